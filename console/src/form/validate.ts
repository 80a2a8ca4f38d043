/**
 * The verdict of a form on a value, by its schema alone. Rules in CEL are the server's: a dry run asks for them.
 * Messages are our own; whether there is one agrees with the server.
 */
import type { Json } from "../api/types";
import type { Complaint, Step } from "../logic/fieldpath";
import { isObject, isSame } from "../logic/merge";
import type { Schema, Shape } from "../schema/shape";

function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

const patterns = new Map<string, RegExp | null>();

/** A pattern in Go's syntax as JavaScript's; null where that cannot be said. */
export function readPattern(pattern: string): RegExp | null {
  let known = patterns.get(pattern);
  if (known === undefined) {
    known = null;
    const flags = /^\(\?([is]+)\)/.exec(pattern);
    const rest = (flags === null ? pattern : pattern.slice(flags[0].length))
      .replaceAll("\\A", "^")
      .replaceAll("\\z", "$")
      .replaceAll("(?P<", "(?<")
      .replaceAll("[[:alnum:]]", "[0-9A-Za-z]")
      .replaceAll("[[:alpha:]]", "[A-Za-z]")
      .replaceAll("[[:digit:]]", "[0-9]");
    for (const flag of ["u", ""]) {
      try {
        known = new RegExp(rest, flag + (flags?.[1] ?? ""));
        break;
      } catch {
        // the next flags may do
      }
    }
    patterns.set(pattern, known);
  }
  return known;
}

const isNumber = (value: Json): value is number => typeof value === "number";

function fitsType(schema: Schema, value: Json): boolean {
  if (schema["x-kubernetes-int-or-string"] || schema.format === "int-or-string")
    return typeof value === "string" || (isNumber(value) && Number.isInteger(value));
  switch (schema.type) {
    case "string":
      return typeof value === "string";
    case "integer":
      return isNumber(value) && Number.isInteger(value);
    case "number":
      return isNumber(value);
    case "boolean":
      return typeof value === "boolean";
    case "array":
      return Array.isArray(value);
    case "object":
      return isObject(value);
    default:
      return true;
  }
}

const INTEGERS: Record<string, number> = { int32: 2 ** 31, int64: 2 ** 63 };
const FORMATS: Record<string, RegExp> = {
  "date-time": /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:?\d\d)$/,
  date: /^\d{4}-\d\d-\d\d$/,
  ipv4: /^(\d{1,3}\.){3}\d{1,3}$/,
  uuid: /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i,
  email: /^[^@\s]+@[^@\s]+$/,
  byte: /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/,
};

function checkNumber(schema: Schema, value: number, say: (text: string) => void): void {
  if (schema.minimum !== undefined && (schema.exclusiveMinimum ? value <= schema.minimum : value < schema.minimum))
    say(`must be ${schema.exclusiveMinimum ? "greater than" : "at least"} ${schema.minimum}`);
  if (schema.maximum !== undefined && (schema.exclusiveMaximum ? value >= schema.maximum : value > schema.maximum))
    say(`must be ${schema.exclusiveMaximum ? "less than" : "at most"} ${schema.maximum}`);
  if (
    schema.multipleOf !== undefined &&
    Math.abs(value / schema.multipleOf - Math.round(value / schema.multipleOf)) > 1e-9
  )
    say(`must be a multiple of ${schema.multipleOf}`);
  const bound = schema.type === "integer" ? INTEGERS[schema.format ?? ""] : undefined;
  if (bound !== undefined && (value < -bound || (schema.format === "int32" ? value >= bound : value > bound)))
    say(`must fit ${schema.format}`);
}

function checkText(schema: Schema, value: string, say: (text: string) => void): void {
  if (schema.minLength !== undefined && countCharacters(value) < schema.minLength)
    say(schema.minLength === 1 ? "must not be empty" : `needs at least ${schema.minLength} characters`);
  if (schema.maxLength !== undefined && countCharacters(value) > schema.maxLength)
    say(`may have at most ${schema.maxLength} characters`);
  if (schema.pattern !== undefined && readPattern(schema.pattern)?.test(value) === false)
    say(`must match ${schema.pattern}`);
  const format = FORMATS[schema.format ?? ""];
  if (format !== undefined && !format.test(value)) say(`must be of the format ${schema.format}`);
}

function sortNames(value: Json): Json {
  if (Array.isArray(value)) return value.map(sortNames);
  return isObject(value)
    ? Object.fromEntries(
        Object.keys(value)
          .sort()
          .map((name) => [name, sortNames(value[name] as Json)]),
      )
    : value;
}

function checkList(shape: Shape, value: Json[], path: Step[], found: Complaint[], say: (text: string) => void): void {
  const { schema } = shape;
  if (schema.minItems !== undefined && value.length < schema.minItems) say(`needs at least ${schema.minItems} items`);
  if (schema.maxItems !== undefined && value.length > schema.maxItems) say(`may have at most ${schema.maxItems} items`);
  const type = schema["x-kubernetes-list-type"];
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  if (type === "set" || type === "map") {
    const keyOf = (item: Json): string =>
      JSON.stringify(
        type === "map" && isObject(item)
          ? keys.map((key) => item[key] ?? shape.items?.property(key)?.schema.default ?? null)
          : sortNames(item),
      );
    const seen = new Set<string>();
    value.forEach((item, index) => {
      const key = keyOf(item);
      if (seen.has(key)) found.push({ path: [...path, index], message: "is there twice" });
      seen.add(key);
    });
  }
  const items = shape.items;
  if (items !== undefined) value.forEach((item, index) => found.push(...validateValue(items, item, [...path, index])));
}

const TYPE_META = ["apiVersion", "kind", "metadata"];

/** An object without what the server takes away: unknown fields, and nulls of fields that may not be null. */
function prune(shape: Shape, value: Record<string, Json>): Record<string, Json> {
  const { schema } = shape;
  const open =
    schema["x-kubernetes-preserve-unknown-fields"] === true ||
    schema.additionalProperties === true ||
    schema.properties === undefined;
  const isKnown = (name: string): boolean =>
    open ||
    shape.property(name) !== undefined ||
    (schema["x-kubernetes-embedded-resource"] === true && TYPE_META.includes(name));
  const kept = Object.entries(value).filter(
    ([name, inner]) => isKnown(name) && (inner !== null || shape.property(name)?.schema.nullable === true),
  );
  return kept.length === Object.keys(value).length ? value : Object.fromEntries(kept);
}

function checkObject(
  shape: Shape,
  given: Record<string, Json>,
  path: Step[],
  found: Complaint[],
  say: (text: string) => void,
): void {
  const { schema } = shape;
  const value = prune(shape, given);
  const names = Object.keys(value);
  if (schema["x-kubernetes-embedded-resource"]) {
    for (const name of ["apiVersion", "kind"])
      if ((typeof value[name] !== "string" || value[name] === "") && shape.property(name)?.schema.default === undefined)
        found.push({ path: [...path, name], message: "is required" });
  }
  if (schema.minProperties !== undefined && names.length < schema.minProperties)
    say(`needs at least ${schema.minProperties} entries`);
  if (schema.maxProperties !== undefined && names.length > schema.maxProperties)
    say(`may have at most ${schema.maxProperties} entries`);
  for (const name of schema.required ?? []) {
    if (Object.hasOwn(value, name) || shape.property(name)?.schema.default !== undefined) continue;
    found.push({ path: [...path, name], message: "is required" });
  }
  for (const name of names) {
    const inner = shape.property(name);
    if (inner !== undefined) found.push(...validateValue(inner, value[name] as Json, [...path, name]));
  }
}

/** Branches validate without types and defaults of their own. */
function checkBranches(shape: Shape, value: Json, path: Step[], say: (text: string) => void): void {
  const { allOf = [], anyOf = [], oneOf = [], not } = shape.schema;
  const fits = (branch: Schema): boolean => validateValue(shape.with(branch), value, path).length === 0;
  const intOrString = shape.schema["x-kubernetes-int-or-string"];
  if (!allOf.every((branch) => fits(branch))) say("does not fit all of the schema's parts");
  if (anyOf.length > 0 && !intOrString && !anyOf.some(fits)) say("fits none of the schema's alternatives");
  if (oneOf.length > 0 && !intOrString) {
    const count = oneOf.filter(fits).length;
    if (count !== 1)
      say(count === 0 ? "fits none of the schema's alternatives" : "fits more than one of the schema's alternatives");
  }
  if (not !== undefined && fits(not)) say("fits what the schema excludes");
}

/** The complaints about a value; none for one that fits. */
export function validateValue(shape: Shape, value: Json, path: Step[] = []): Complaint[] {
  const { schema } = shape;
  const found: Complaint[] = [];
  const say = (message: string): void => void found.push({ path, message });
  if (value === null) {
    // a null where none may be is taken away if there is a default
    if (
      !schema.nullable &&
      schema.default === undefined &&
      (schema.type !== undefined || schema["x-kubernetes-int-or-string"])
    )
      say("must not be null");
    return found;
  }
  if (!fitsType(schema, value)) {
    say(
      `must be ${schema["x-kubernetes-int-or-string"] ? "an integer or a text" : schema.type === "integer" || schema.type === "object" || schema.type === "array" ? `an ${schema.type}` : `a ${schema.type ?? "value"}`}`,
    );
    return found;
  }
  if (schema.enum !== undefined && !schema.enum.some((one) => isSame(one, value)))
    say(`must be one of ${schema.enum.map((one) => JSON.stringify(one)).join(", ")}`);
  if (isNumber(value)) checkNumber(schema, value, say);
  else if (typeof value === "string") checkText(schema, value, say);
  else if (Array.isArray(value)) checkList(shape, value, path, found, say);
  else if (isObject(value)) checkObject(shape, value, path, found, say);
  checkBranches(shape, value, path, say);
  return found;
}

/** The complaints about a whole object. ownStatus: whether its status is a subresource, which a write of the object ignores. */
export function validateObject(shape: Shape, object: Record<string, Json>, ownStatus: boolean): Complaint[] {
  const { status, ...rest } = object;
  const value = ownStatus || status === undefined ? rest : { ...rest, status };
  return validateValue(shape, value).filter((one) => !(ownStatus && one.path[0] === "status"));
}
