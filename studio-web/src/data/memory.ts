// Choices that the browser remembers.
import { type Signal, effect, signal } from "@preact/signals";

export function remembered<T>(key: string, start: T): Signal<T> {
  const name = `handwright.${key}`;
  let value = start;
  try {
    const text = localStorage.getItem(name);
    if (text !== null) value = JSON.parse(text) as T;
  } catch {
    // Storage is off, or holds something else: the page works without it.
  }
  const kept = signal(value);
  effect(() => {
    try {
      localStorage.setItem(name, JSON.stringify(kept.value));
    } catch {
      // As above.
    }
  });
  return kept;
}
