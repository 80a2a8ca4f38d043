/** Completion and hover texts from a schema. */
import type { Completion } from "@codemirror/autocomplete";
import { describeBounds, describeType, type Shape } from "../schema/shape";
import { findPlace, findSiblings } from "./context";

export interface Suggestions {
  /** Where the word that is replaced begins, counted from the start of the line. */
  from: number;
  options: Completion[];
}

function infoOf(shape: Shape): string {
  return [describeType(shape.schema), shape.schema.description ?? "", ...describeBounds(shape.schema)]
    .filter((text) => text !== "")
    .join("\n");
}

function valueOptions(shape: Shape): Completion[] {
  const { schema } = shape;
  const found =
    schema.enum?.map((one) => (typeof one === "string" ? one : JSON.stringify(one))) ??
    (schema.type === "boolean" ? ["true", "false"] : []);
  if (found.length === 0 && schema.default !== undefined)
    found.push(typeof schema.default === "string" ? schema.default : JSON.stringify(schema.default));
  return found.map((label) => ({ label, type: "constant" }));
}

function insertOf(name: string, shape: Shape, indent: number): string {
  const { schema } = shape;
  const inner = " ".repeat(indent);
  if (schema.type === "array") return `${name}:\n${inner}- `;
  if (schema.type === "object" && schema.enum === undefined) return `${name}:\n${inner}  `;
  return `${name}: `;
}

/** What can stand at a position of a text. */
export function suggest(shape: Shape, text: string, line: number, column: number): Suggestions | null {
  const own = text.split("\n")[line] ?? "";
  const place = findPlace(text, line, column);
  const before = own.slice(0, column);
  if (place.inValue) {
    const value = shape.at([...place.parent, place.key]);
    if (value === undefined) return null;
    const word = /[^\s:"']*$/.exec(before)?.[0] ?? "";
    return { from: column - word.length, options: valueOptions(value) };
  }
  const word = /[A-Za-z0-9_.-]*$/.exec(before.replace(/^\s*(-\s+)*/, (lead) => " ".repeat(lead.length)))?.[0] ?? "";
  const parent = shape.at(place.parent);
  if (parent === undefined) return null;
  const item = parent.schema.items !== undefined ? parent.items : parent;
  if (item === undefined) return null;
  const start = column - word.length;
  const taken = findSiblings(text, line, start);
  const options = item.names
    .filter((name) => !taken.has(name))
    .map((name): Completion => {
      const inner = item.property(name) as Shape;
      const required = item.schema.required?.includes(name) ?? false;
      return {
        label: name,
        detail: describeType(inner.schema) + (required ? ", required" : ""),
        info: infoOf(inner),
        type: "property",
        boost: required ? 10 : 0,
        apply: insertOf(name, inner, start),
      };
    });
  return { from: start, options };
}

/** What a schema says of the key on a line; "" where it says nothing. */
export function explainKey(shape: Shape, text: string, line: number): { title: string; lines: string[] } | null {
  const place = findPlace(text, line, 0);
  if (place.key === "") return null;
  const found = shape.at([...place.parent, place.key]);
  if (found === undefined) return null;
  const rules = (found.schema["x-kubernetes-validations"] ?? []).map((rule) => `rule: ${rule.message ?? rule.rule}`);
  return {
    title: `${place.key}: ${describeType(found.schema)}`,
    lines: [found.schema.description ?? "", ...describeBounds(found.schema), ...rules].filter((one) => one !== ""),
  };
}
