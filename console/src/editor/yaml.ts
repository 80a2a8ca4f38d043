/** YAML of objects, and where their fields are in it. */
import { Document, isMap, isPair, isScalar, isSeq, LineCounter, type Node, parseDocument, visit } from "yaml";
import type { Json } from "../api/types";
import type { Step } from "../logic/fieldpath";

// texts that are numbers in YAML 1.2, and not in 1.1, whose rules decide about quotes
const NUMBER = /^0o[0-7]+$|^[-+]?(\.\d+|\d+(\.\d*)?)([eE][-+]?\d+)?$/;

export function writeYaml(value: unknown): string {
  const document = new Document(value, { version: "1.1", aliasDuplicateObjects: false });
  visit(document, {
    Scalar: (_, node) => {
      if (typeof node.value === "string" && NUMBER.test(node.value)) node.type = "QUOTE_DOUBLE";
    },
  });
  return document.toString({ lineWidth: 0, indentSeq: false });
}

export interface ParseProblem {
  from: number;
  to: number;
  message: string;
}

export class YamlText {
  readonly document: Document.Parsed;
  readonly lines = new LineCounter();

  constructor(readonly text: string) {
    this.document = parseDocument(text, { lineCounter: this.lines, version: "1.2", prettyErrors: false });
  }

  get problems(): ParseProblem[] {
    return this.document.errors.map((error) => ({
      from: error.pos[0],
      to: Math.max(error.pos[1], error.pos[0] + 1),
      message: error.message,
    }));
  }

  get value(): Json {
    return this.document.toJS({ maxAliasCount: 100 }) as Json;
  }

  /** The range of the field at a path, or of the nearest one above it that is there. */
  rangeOf(path: Step[]): [number, number] {
    let node: unknown = this.document.contents;
    let range: [number, number] = [
      0,
      Math.min(this.text.length, this.text.indexOf("\n") < 0 ? this.text.length : this.text.indexOf("\n")),
    ];
    for (const step of path) {
      let next: unknown;
      let marked: unknown;
      if (isMap(node)) {
        const pair = node.items.find(
          (item) => isPair(item) && isScalar(item.key) && String(item.key.value) === String(step),
        );
        next = pair?.value;
        marked = pair?.key;
      } else if (isSeq(node)) {
        next =
          typeof step === "number"
            ? node.items[step]
            : node.items.find(
                (item) => isMap(item) && item.items.some((pair) => isScalar(pair.value) && pair.value.value === step),
              );
        marked = next;
      }
      if (marked === undefined || marked === null) return range;
      const found = (marked as Node).range;
      if (found) range = [found[0], Math.max(found[1], found[0] + 1)];
      node = next;
    }
    if (isScalar(node) && node.range) range = [node.range[0], Math.max(node.range[1], node.range[0] + 1)];
    return range;
  }

  /** The line, counted from 0, of each field, by the path as the server writes it in managed fields. */
  lineAt(offset: number): number {
    return this.lines.linePos(offset).line - 1;
  }
}
