// The keys that work in the view at hand.
import { signal } from "@preact/signals";

import { shortcutGroups, useShortcuts } from "../data/keys";
import { Dialog } from "./Dialog";

export const isHelpOpen = signal(false);

const NAMES: Record<string, string> = {
  " ": "space",
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
  PageUp: "page up",
  PageDown: "page down",
  Escape: "esc",
};

export function HelpDialog() {
  useShortcuts("Help", [
    { keys: ["?"], label: "This list", does: () => (isHelpOpen.value = !isHelpOpen.value) },
  ]);
  if (!isHelpOpen.value) return null;
  return (
    <Dialog title="Keys" testid="help-dialog" onClose={() => (isHelpOpen.value = false)}>
      <div class="keys">
        {shortcutGroups().map(([group, shortcuts]) => (
          <section key={group}>
            <h3>{group}</h3>
            <dl>
              {shortcuts.map(({ keys, label }) => (
                <div key={label}>
                  <dt>
                    {keys.map((key) => (
                      <kbd key={key}>{NAMES[key] ?? key.toUpperCase()}</kbd>
                    ))}
                  </dt>
                  <dd>{label}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
        <section>
          <h3>Pointer</h3>
          <dl>
            <div>
              <dt>drag</dt>
              <dd>Turn the camera</dd>
            </div>
            <div>
              <dt>right drag</dt>
              <dd>Move it</dd>
            </div>
            <div>
              <dt>wheel</dt>
              <dd>Zoom</dd>
            </div>
          </dl>
        </section>
      </div>
    </Dialog>
  );
}
