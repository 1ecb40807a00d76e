// Light or dark: as the system says, or as the user has chosen.
import { computed, effect, signal } from "@preact/signals";

import { remembered } from "./memory";

export type Theme = "system" | "light" | "dark";

export const theme = remembered<Theme>("theme", "system");
const system = matchMedia("(prefers-color-scheme: dark)");
const systemIsDark = signal(system.matches);
system.addEventListener("change", () => (systemIsDark.value = system.matches));

export const isDark = computed(() =>
  theme.value === "system" ? systemIsDark.value : theme.value === "dark",
);

effect(() => {
  document.documentElement.dataset.theme = isDark.value ? "dark" : "light";
});

export function switchTheme(): void {
  theme.value = isDark.value ? "light" : "dark";
}
