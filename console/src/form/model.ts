/** How a form shows a schema. */
import type { Json, JsonObject } from "../api/types";
import type { Step } from "../logic/fieldpath";
import { isObject } from "../logic/merge";
import type { Shape } from "../schema/shape";

export type Control =
  "choice" | "switch" | "integer" | "number" | "text" | "lines" | "int-or-string" | "list" | "map" | "group" | "raw";

/** Which control a field gets. */
export function controlOf(shape: Shape): Control {
  const { schema } = shape;
  if (schema["x-kubernetes-int-or-string"] || schema.format === "int-or-string") return "int-or-string";
  if (schema.enum !== undefined) return "choice";
  switch (schema.type) {
    case "boolean":
      return "switch";
    case "integer":
      return "integer";
    case "number":
      return "number";
    case "string":
      return (schema.maxLength ?? 0) > 200 ? "lines" : "text";
    case "array":
      return shape.items === undefined ? "raw" : "list";
    case "object":
      if (schema.properties !== undefined) return "group";
      return typeof schema.additionalProperties === "object" ? "map" : "raw";
    default:
      return schema.properties !== undefined ? "group" : "raw";
  }
}

/** The value of a field that somebody begins to fill in. */
export function blankOf(shape: Shape): Json {
  const { schema } = shape;
  if (schema.default !== undefined) return schema.default;
  switch (controlOf(shape)) {
    case "choice":
      return schema.enum?.[0] ?? null;
    case "switch":
      return false;
    case "integer":
    case "number":
      return schema.minimum ?? 0;
    case "list":
      return [];
    case "map":
    case "group":
    case "raw":
      return schema.type === "array" ? [] : schema.type === "string" ? "" : {};
    default:
      return "";
  }
}

/** A value with a change at a path; undefined takes the field away. */
export function setAt(value: Json, path: Step[], change: Json | undefined): Json {
  const [step, ...rest] = path;
  if (step === undefined) return change ?? null;
  if (typeof step === "number") {
    const list = Array.isArray(value) ? [...value] : [];
    if (rest.length === 0 && change === undefined) list.splice(step, 1);
    else list[step] = setAt(list[step] ?? null, rest, change);
    return list;
  }
  const made: JsonObject = { ...(isObject(value) ? value : {}) };
  if (rest.length === 0 && change === undefined) delete made[step];
  else made[step] = setAt(made[step] ?? null, rest, change);
  return made;
}

/** The number or text that somebody means in a field that takes both. */
export function readIntOrString(text: string): number | string {
  return /^-?(0|[1-9]\d{0,15})$/.test(text.trim()) ? Number(text) : text;
}

/** Names of a group in the order in which a form shows them: required ones first. */
export function orderNames(shape: Shape): string[] {
  const required = new Set(shape.schema.required ?? []);
  return [...shape.names.filter((name) => required.has(name)), ...shape.names.filter((name) => !required.has(name))];
}
