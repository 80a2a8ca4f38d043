/** Small parts that many pages share. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "../api/http";
import type { Tone } from "../logic/tone";
import { Icon, type IconName } from "./Icon";

export function Badge({ tone = "none", children }: { tone?: Tone; children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

export function Button(props: {
  onClick?: (event: MouseEvent) => void;
  children?: ComponentChildren;
  icon?: IconName;
  kind?: "primary" | "danger" | "plain";
  label?: string;
  disabled?: boolean;
  submit?: boolean;
  pressed?: boolean;
}) {
  return (
    <button
      type={props.submit ? "submit" : "button"}
      class={`button ${props.kind ?? "normal"} ${props.children === undefined ? "icon-only" : ""}`}
      onClick={props.onClick}
      disabled={props.disabled}
      aria-label={props.label}
      title={props.label}
      aria-pressed={props.pressed}
    >
      {props.icon !== undefined && <Icon name={props.icon} size={16} />}
      {props.children !== undefined && <span>{props.children}</span>}
    </button>
  );
}

export function Problem({ error, title }: { error: Error; title?: string }) {
  const forbidden = error instanceof ApiError && error.code === 403;
  return (
    <div class="problem" role="alert">
      <Icon name={forbidden ? "shield" : "alert"} size={22} />
      <div>
        <strong>{title ?? (forbidden ? "You may not see this" : "This did not work")}</strong>
        <p>{error.message}</p>
      </div>
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <strong>{title}</strong>
      {children !== undefined && <p>{children}</p>}
    </div>
  );
}

export function Loading({ what = "Loading" }: { what?: string }) {
  return (
    <div class="loading" role="status">
      <span class="spinner" aria-hidden="true" /> {what}…
    </div>
  );
}

/** A dialog of the browser's own: it keeps the focus inside, and Escape closes it. */
export function Dialog({
  title,
  onClose,
  children,
  wide = false,
}: {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  wide?: boolean;
}) {
  const place = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = place.current;
    if (dialog !== null && !dialog.open) dialog.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={place}
      class={wide ? "dialog wide" : "dialog"}
      aria-label={title}
      onCancel={(event) => (event.preventDefault(), onClose())}
      onClick={(event) => event.target === place.current && onClose()}
    >
      <div class="dialog-body">
        <header>
          <h2>{title}</h2>
          <Button icon="close" kind="plain" label="Close" onClick={onClose} />
        </header>
        {children}
      </div>
    </dialog>
  );
}

/** The time, again and again, so that ages stay true. */
export function useNow(milliseconds = 1000): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), milliseconds);
    return () => clearInterval(timer);
  }, [milliseconds]);
  return now;
}

/** What a promise gives, loaded again when the inputs change. */
export function useLoaded<T>(
  load: (signal: AbortSignal) => Promise<T>,
  inputs: unknown[],
): { value: T | null; error: Error | null; reload: () => void } {
  const [value, setValue] = useState<T | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const controller = new AbortController();
    setError(null);
    load(controller.signal).then(
      (found) => !controller.signal.aborted && setValue(found),
      (problem: unknown) => !controller.signal.aborted && setError(problem as Error),
    );
    return () => controller.abort();
  }, [...inputs, turn]);
  return { value, error, reload: () => setTurn((before) => before + 1) };
}
