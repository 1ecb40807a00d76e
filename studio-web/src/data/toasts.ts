// Short messages that come and go.
import { signal } from "@preact/signals";

export interface Toast {
  id: number;
  text: string;
  tone: "plain" | "bad";
}

export const toasts = signal<Toast[]>([]);
let next = 1;

export function tell(text: string, tone: Toast["tone"] = "plain"): void {
  const toast = { id: next++, text, tone };
  toasts.value = [...toasts.value, toast];
  // Bad news is longer and may need to be read twice.
  setTimeout(() => dismiss(toast.id), tone === "bad" ? 15000 : 5000);
}

export function dismiss(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}
