/** How the page looks: follows the system unless the user chose otherwise. A choice of colours is no secret and stays. */
import { effect, signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";
const KEY = "podless.theme";

export const theme = signal<Theme>((localStorage.getItem(KEY) as Theme | null) ?? "system");
export const sidebarOpen = signal(false);

export function nextTheme(): void {
  theme.value = theme.value === "system" ? "light" : theme.value === "light" ? "dark" : "system";
}

effect(() => {
  if (theme.value === "system") localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, theme.value);
  document.documentElement.dataset["theme"] = theme.value;
});
