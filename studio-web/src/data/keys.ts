// Keyboard shortcuts: one table, from which the help is made too.
import { useEffect } from "preact/hooks";

export interface Shortcut {
  /** As `KeyboardEvent.key` names them; any of these. */
  keys: string[];
  label: string;
  does: () => void;
}

const groups = new Map<string, Shortcut[]>();

export function shortcutGroups(): [string, Shortcut[]][] {
  return [...groups];
}

/** Shortcuts of a view, while it is shown. */
export function useShortcuts(group: string, shortcuts: Shortcut[]): void {
  groups.set(group, shortcuts);
  useEffect(() => {
    groups.set(group, shortcuts);
    return () => void groups.delete(group);
  }, []);
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.matches("input:not([type=range]):not([type=checkbox]), select, textarea");
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  if (document.querySelector("dialog[open]") && event.key !== "?") return;
  // Buttons and links keep the keys that press them.
  const presses = event.key === " " || event.key === "Enter";
  if (presses && event.target instanceof HTMLElement && event.target.closest("button, a")) return;
  for (const shortcuts of groups.values()) {
    const found = shortcuts.find((shortcut) => shortcut.keys.includes(event.key));
    if (!found) continue;
    event.preventDefault();
    found.does();
    return;
  }
});

// A button that was clicked does not keep the keys: the space bar is for playing.
addEventListener("click", (event) => {
  const active = document.activeElement;
  if (event.detail > 0 && active instanceof HTMLElement && active.closest("button, a"))
    active.blur();
});
