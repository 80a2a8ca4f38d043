/** Who set each field, from metadata.managedFields. */
import type { Json, JsonObject, ManagedFields } from "../api/types";
import { isObject, isSame } from "./merge";
import { type Line, writeLines } from "./lines";

interface Owned {
  /** Place in the list of managers. */
  manager: number;
  /** The set of fields below this field; null for all that is there. */
  fields: JsonObject | null;
}

function childOf(fields: JsonObject, step: string | number, value: Json): JsonObject | null | undefined {
  const named = typeof step === "string" ? fields[`f:${step}`] : undefined;
  if (isObject(named)) return named;
  if (typeof step !== "number") return undefined;
  for (const [key, inner] of Object.entries(fields)) {
    if (!isObject(inner)) continue;
    if (key === `i:${step}`) return inner;
    if (key.startsWith("v:") && isSame(JSON.parse(key.slice(2)) as Json, value)) return inner;
    if (key.startsWith("k:") && isObject(value)) {
      const keys = JSON.parse(key.slice(2)) as JsonObject;
      if (Object.entries(keys).every(([name, wanted]) => isSame(value[name], wanted))) return inner;
    }
  }
  return undefined;
}

/** The lines of an object; the mark of a line has the places of the managers that own its field. */
export function writeOwnedLines(value: Json, managers: ManagedFields[]): Line<number[]>[] {
  const start: Owned[] = managers.map((one, manager) => ({ manager, fields: one.fieldsV1 ?? {} }));
  const lines = writeLines<Owned[]>(value, start, {
    step: (owners, step, inner) =>
      owners.flatMap((one): Owned[] => {
        if (one.fields === null) return [one];
        const child = childOf(one.fields, step, inner);
        if (child === undefined) return [];
        const leaf = child === null || Object.keys(child).length === 0;
        return [{ manager: one.manager, fields: leaf ? null : child }];
      }),
  });
  return lines.map((line) => ({
    ...line,
    mark: line.mark.filter((one) => one.fields === null || "." in one.fields).map((one) => one.manager),
  }));
}
