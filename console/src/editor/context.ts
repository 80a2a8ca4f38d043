/** Where in an object a line of YAML is, by its indentation: this works while the text is being written. */
import type { Step } from "../logic/fieldpath";

export interface Place {
  /** The path of the object or list item that the line is in. */
  parent: Step[];
  /** The key on the line, "" where there is none yet. */
  key: string;
  /** Whether the position is behind the key's colon. */
  inValue: boolean;
}

const KEY = /^("(?:[^"\\]|\\.)*"|'[^']*'|[^\s#:'"][^:#]*?)\s*:(?:\s|$)/;

function unquote(key: string): string {
  return /^["']/.test(key) ? key.slice(1, -1) : key;
}

interface Line {
  indent: number;
  /** Indents of the dashes before the key. */
  dashes: number[];
  key: string;
  blank: boolean;
}

function readLine(text: string): Line {
  let indent = /^ */.exec(text)?.[0].length ?? 0;
  let rest = text.slice(indent);
  const dashes: number[] = [];
  for (let dash = /^-(\s+|$)/.exec(rest); dash !== null; dash = /^-(\s+|$)/.exec(rest)) {
    dashes.push(indent);
    indent += dash[0].length;
    rest = rest.slice(dash[0].length);
  }
  const key = KEY.exec(rest)?.[1] ?? "";
  return { indent, dashes, key: unquote(key), blank: rest.trim() === "" && dashes.length === 0 };
}

/** The number of the list item whose dash is on a line: how many dashes of the same indent stand before it. */
function itemNumber(lines: string[], line: number, dash: number): number {
  let count = 0;
  for (let at = line - 1; at >= 0; at--) {
    const found = readLine(lines[at] ?? "");
    if (found.blank) continue;
    const first = found.dashes[0] ?? found.indent;
    if (found.dashes.includes(dash)) count++;
    else if (first < dash || (first === dash && found.dashes.length === 0)) break;
  }
  return count;
}

export function findPlace(text: string, line: number, column: number): Place {
  const lines = text.split("\n");
  const own = lines[line] ?? "";
  const here = readLine(own);
  const colon = here.key === "" ? -1 : own.search(/:(\s|$)/);
  const inValue = colon >= 0 && column > colon;
  let limit = here.blank ? column : here.indent;
  const steps: Step[] = [];
  for (const dash of [...here.dashes].reverse()) {
    steps.unshift(itemNumber(lines, line, dash));
    limit = dash;
  }
  let afterDash = here.dashes.length > 0;
  for (let at = line - 1; at >= 0 && (limit > 0 || afterDash); at--) {
    const found = readLine(lines[at] ?? "");
    if (found.blank || (found.key === "" && found.dashes.length === 0)) continue;
    if (
      found.key !== "" &&
      (found.indent < limit || (afterDash && found.indent === limit && found.dashes.length === 0))
    ) {
      steps.unshift(found.key);
      limit = found.indent;
      afterDash = false;
    }
    for (const dash of [...found.dashes].reverse()) {
      if (dash < limit) {
        steps.unshift(itemNumber(lines, at, dash));
        limit = dash;
        afterDash = true;
      }
    }
  }
  return { parent: steps, key: here.key, inValue };
}

/** The keys that stand beside a line, in the same object. */
export function findSiblings(text: string, line: number, indent: number): Set<string> {
  const lines = text.split("\n");
  const keys = new Set<string>();
  for (const step of [-1, 1]) {
    for (let at = line + step; at >= 0 && at < lines.length; at += step) {
      const found = readLine(lines[at] ?? "");
      if (found.blank) continue;
      if (found.indent < indent) break;
      if (found.indent === indent && found.key !== "") {
        if (step === 1 && found.dashes.length > 0) break;
        keys.add(found.key);
        if (step === -1 && found.dashes.length > 0) break;
      }
    }
  }
  return keys;
}
