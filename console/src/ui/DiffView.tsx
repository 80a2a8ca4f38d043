/** The difference of two texts. */
import { useMemo } from "preact/hooks";
import { diffLines, foldSame } from "../logic/diff";
import { Lines } from "./Lines";

const SIGNS = { same: " ", added: "+", removed: "−" };

export function DiffView({ before, after, label = "Difference" }: { before: string; after: string; label?: string }) {
  const lines = useMemo(() => foldSame(diffLines(before, after)), [before, after]);
  if (lines.every((line) => line === null || line.kind === "same")) return <p class="dim">No difference</p>;
  return (
    <Lines
      label={label}
      kind="diff"
      lines={lines}
      line={(line, index) =>
        line === null ? (
          <li key={index} class="fold" aria-hidden="true">
            ⋯
          </li>
        ) : (
          <li key={index} class={line.kind}>
            <span class="diff-sign">{SIGNS[line.kind]}</span>
            <code>{line.text}</code>
          </li>
        )
      }
    />
  );
}
