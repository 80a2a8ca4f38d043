/** Numbered lines of text in a box that scrolls. Of very many, the first are shown until the user wants all. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button } from "./parts";

const MOST = 2000;

interface Props<T> {
  label: string;
  kind: "diff" | "owned";
  lines: T[];
  line: (one: T, index: number) => ComponentChildren;
}

export function Lines<T>({ label, kind, lines, line }: Props<T>) {
  const [all, setAll] = useState(false);
  const shown = all ? lines : lines.slice(0, MOST);
  return (
    <>
      <ol class={`code ${kind} panel`} tabIndex={0} aria-label={label}>
        {shown.map(line)}
      </ol>
      {shown.length < lines.length && (
        <p class="note">
          The first {MOST} of {lines.length} lines. <Button onClick={() => setAll(true)}>Show all</Button>
        </p>
      )}
    </>
  );
}
