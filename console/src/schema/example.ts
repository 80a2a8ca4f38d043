/** An object that a schema describes: required fields and those with a default, with values that fit. */
import { apiVersionOf, type Kind } from "../api/discovery";
import type { Json, JsonObject } from "../api/types";
import type { Schema, Shape } from "./shape";

const DEPTH = 12;
const FORMATS: Record<string, string> = {
  "date-time": "2026-01-31T12:00:00Z",
  date: "2026-01-31",
  duration: "1h",
  email: "a@example.com",
  hostname: "example.com",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  cidr: "192.0.2.0/24",
  mac: "00:00:5e:00:53:01",
  uri: "https://example.com",
  url: "https://example.com",
  uuid: "123e4567-e89b-42d3-a456-426614174000",
  byte: "ZXhhbXBsZQ==",
  password: "example",
};

function exampleNumber(schema: Schema): number {
  const step = schema.multipleOf ?? (schema.type === "integer" ? 1 : 0.5);
  let value = schema.minimum ?? Math.min(1, schema.maximum ?? 1);
  if (schema.exclusiveMinimum && schema.minimum !== undefined) value += step;
  if (schema.exclusiveMaximum && value === schema.maximum) value -= step;
  return schema.multipleOf === undefined ? value : Math.ceil(value / schema.multipleOf) * schema.multipleOf;
}

function exampleText(schema: Schema): string {
  const format = FORMATS[schema.format ?? ""];
  if (format !== undefined) return format;
  const text = "example".slice(0, schema.maxLength ?? 7);
  return text.padEnd(schema.minLength ?? 0, "x");
}

export function exampleOf(shape: Shape, depth = 0): Json {
  const { schema } = shape;
  if (schema.default !== undefined && !(depth > 0 && schema.default === null)) return schema.default;
  if (schema.enum !== undefined && schema.enum.length > 0) return schema.enum[0] as Json;
  if (schema["x-kubernetes-int-or-string"] || schema.format === "int-or-string") return 1;
  if (schema.type === "boolean") return false;
  if (schema.type === "integer" || schema.type === "number") return exampleNumber(schema);
  if (schema.type === "string") return exampleText(schema);
  if (schema.type === "array")
    return depth < DEPTH && shape.items !== undefined
      ? Array.from({ length: schema.minItems ?? 0 }, () => exampleOf(shape.items as Shape, depth + 1))
      : [];
  const made: JsonObject = {};
  if (depth >= DEPTH) return made;
  for (const name of shape.names) {
    const inner = shape.property(name) as Shape;
    if (schema.required?.includes(name) || (inner.schema.default !== undefined && inner.schema.type !== "object"))
      made[name] = exampleOf(inner, depth + 1);
  }
  return made;
}

/** An object to begin with. */
export function exampleObject(kind: Kind, shape: Shape | null, namespace: string): JsonObject {
  const metadata: JsonObject = { name: "example", ...(kind.namespaced ? { namespace: namespace || "default" } : {}) };
  const made: JsonObject = { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata };
  for (const name of shape?.names ?? []) {
    if (["apiVersion", "kind", "metadata", "status"].includes(name)) continue;
    const inner = shape?.property(name);
    if (inner !== undefined && (name === "spec" || shape?.schema.required?.includes(name)))
      made[name] = exampleOf(inner, 1);
  }
  return made;
}
