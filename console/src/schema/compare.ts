/** What differs between two schemas, field by field. */
import { describeBounds, describeType, type Shape } from "./shape";

export interface SchemaChange {
  path: string;
  kind: "added" | "removed" | "changed";
  text: string;
}

const DEEPEST = 16;

function wordsOf(shape: Shape): string[] {
  const { schema } = shape;
  return [
    describeType(schema),
    ...describeBounds(schema),
    ...(schema["x-kubernetes-validations"] ?? []).map((rule) => `rule ${rule.rule}`),
    ...(schema.required ?? []).map((name) => `requires ${name}`),
  ];
}

export function compareSchemas(
  before: Shape | undefined,
  after: Shape | undefined,
  path = "",
  depth = 0,
): SchemaChange[] {
  if (depth > DEEPEST || (before === undefined && after === undefined)) return [];
  if (before === undefined) return [{ path, kind: "added", text: describeType((after as Shape).schema) }];
  if (after === undefined) return [{ path, kind: "removed", text: describeType(before.schema) }];
  const found: SchemaChange[] = [];
  const old = wordsOf(before);
  const now = wordsOf(after);
  const gone = old.filter((word) => !now.includes(word));
  const come = now.filter((word) => !old.includes(word));
  if (gone.length + come.length > 0)
    found.push({
      path: path || "(whole object)",
      kind: "changed",
      text: [...gone.map((word) => `− ${word}`), ...come.map((word) => `+ ${word}`)].join("\n"),
    });
  const names = [...new Set([...before.names, ...after.names])];
  const inner = (name: string): string => (path === "" ? name : `${path}.${name}`);
  const own = (shape: Shape, name: string): Shape | undefined =>
    shape.names.includes(name) ? shape.property(name) : undefined;
  for (const name of names) found.push(...compareSchemas(own(before, name), own(after, name), inner(name), depth + 1));
  found.push(...compareSchemas(before.items, after.items, `${path}[]`, depth + 1));
  const entries = (shape: Shape): Shape | undefined =>
    typeof shape.schema.additionalProperties === "object" ? shape.with(shape.schema.additionalProperties) : undefined;
  return [...found, ...compareSchemas(entries(before), entries(after), `${path}[*]`, depth + 1)];
}
