// Where one is, where one can go, and how the page looks.
import type { ComponentChildren } from "preact";

import { about, activeJobs, hasServer, isConnected } from "../data/store";
import { linkTo, type Route, route } from "../data/route";
import { isDark, switchTheme } from "../data/theme";
import { IconButton } from "./controls";
import { isHelpOpen } from "./HelpDialog";
import { Icon, type IconName } from "./Icon";

const TABS: readonly [Route["view"], string, IconName][] = [
  ["wall", "Wall", "grid"],
  ["make", "Make", "make"],
  ["live", "Live", "live"],
];

interface TopBarProps {
  title?: string;
  /** Beside the page's own switches. */
  children?: ComponentChildren;
}

export function TopBar({ title, children }: TopBarProps) {
  const view = route.value.view;
  const running = activeJobs.value.length;
  return (
    <header class="top">
      <a class="brand" href={linkTo("wall")} aria-label="handwright, to the wall">
        <svg viewBox="0 0 32 32" aria-hidden="true">
          <path d="M7 17V11a2 2 0 0 1 4 0V7a2 2 0 0 1 4 0v-.5a2 2 0 0 1 4 0V8a2 2 0 0 1 4 0v6l1.6-2.2a2 2 0 0 1 3.3 2.2L24 21.5A8.5 8.5 0 0 1 16.8 26h-1.3A8.5 8.5 0 0 1 7 17.5z" />
        </svg>
        handwright
      </a>
      {title && <span class="top-title">{title}</span>}
      {hasServer.value && (
        <nav class="tabs" aria-label="Views">
          {TABS.map(([key, label, icon]) => (
            <a
              key={key}
              href={linkTo(key)}
              aria-current={isWithin(view, key) ? "page" : undefined}
              data-testid={`tab-${key}`}
            >
              <Icon name={icon} />
              {label}
            </a>
          ))}
        </nav>
      )}
      <span class="grow" />
      {!isConnected.value && (
        <span class="mark mark-bad" role="status" data-testid="offline">
          <Icon name="alert" /> Connection lost, trying again
        </span>
      )}
      {running > 0 && (
        <a class="running" href={linkTo("wall")} data-testid="running">
          <span class="job-pulse is-running" aria-hidden="true" />
          {running} {running === 1 ? "job" : "jobs"}
        </a>
      )}
      {about.value && (
        <span class="muted top-folder" title="The folder that is shown">
          {about.value.folder}
        </span>
      )}
      {children}
      <IconButton
        icon={isDark.value ? "sun" : "moon"}
        label={isDark.value ? "Light" : "Dark"}
        testid="theme"
        onClick={switchTheme}
      />
      <IconButton
        icon="help"
        label="Keys"
        keys="?"
        testid="help"
        onClick={() => (isHelpOpen.value = true)}
      />
    </header>
  );
}

function isWithin(view: Route["view"], tab: Route["view"]): boolean {
  return view === tab || (tab === "wall" && (view === "stage" || view === "compare"));
}
