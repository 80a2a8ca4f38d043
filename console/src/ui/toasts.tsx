/** Short messages that go by themselves; a screen reader reads them out. */
import { signal } from "@preact/signals";
import { Icon } from "./Icon";

interface Toast {
  id: number;
  text: string;
  tone: "good" | "bad";
}

const toasts = signal<Toast[]>([]);
let count = 0;

export function tell(text: string, tone: "good" | "bad" = "good"): void {
  const id = ++count;
  toasts.value = [...toasts.value, { id, text, tone }];
  setTimeout(() => (toasts.value = toasts.value.filter((one) => one.id !== id)), tone === "bad" ? 9000 : 4500);
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map((one) => (
        <div key={one.id} class={`toast ${one.tone}`}>
          <Icon name={one.tone === "good" ? "check" : "alert"} />
          {one.text}
        </div>
      ))}
    </div>
  );
}
