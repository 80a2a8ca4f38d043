/** Schemas of kinds, and what they say in words. Nothing here touches the network. */
import type { Json } from "../api/types";

export interface Rule {
  rule: string;
  message?: string;
  messageExpression?: string;
  fieldPath?: string;
  reason?: string;
  optionalOldSelf?: boolean;
}

export interface Schema {
  type?: string;
  format?: string;
  title?: string;
  description?: string;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
  required?: string[];
  enum?: Json[];
  default?: Json;
  nullable?: boolean;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: boolean;
  exclusiveMaximum?: boolean;
  multipleOf?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  minProperties?: number;
  maxProperties?: number;
  $ref?: string;
  allOf?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  not?: Schema;
  "x-kubernetes-int-or-string"?: boolean;
  "x-kubernetes-preserve-unknown-fields"?: boolean;
  "x-kubernetes-embedded-resource"?: boolean;
  "x-kubernetes-list-type"?: string;
  "x-kubernetes-list-map-keys"?: string[];
  "x-kubernetes-validations"?: Rule[];
  "x-kubernetes-group-version-kind"?: { group: string; version: string; kind: string }[];
}

/** A schema and the document in which its references are. */
export class Shape {
  constructor(
    readonly schema: Schema,
    private readonly all: Record<string, Schema>,
  ) {}

  private resolve(schema: Schema, depth = 0): Schema {
    if (depth > 8) return schema;
    if (schema.$ref !== undefined) {
      const target = this.all[schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1)] ?? {};
      return this.resolve(
        {
          ...target,
          ...(schema.description ? { description: schema.description } : {}),
          ...(schema.default !== undefined ? { default: schema.default } : {}),
        },
        depth + 1,
      );
    }
    const only =
      schema.allOf?.length === 1 && schema.type === undefined && schema.properties === undefined
        ? schema.allOf[0]
        : undefined;
    if (only !== undefined) {
      const { allOf: _, ...rest } = schema;
      return { ...this.resolve(only, depth + 1), ...rest };
    }
    return schema;
  }

  with(schema: Schema): Shape {
    return new Shape(this.resolve(schema), this.all);
  }

  get names(): string[] {
    return Object.keys(this.schema.properties ?? {});
  }

  property(name: string): Shape | undefined {
    const own = this.schema.properties?.[name];
    if (own !== undefined) return this.with(own);
    const more = this.schema.additionalProperties;
    return typeof more === "object" ? this.with(more) : undefined;
  }

  get items(): Shape | undefined {
    return this.schema.items === undefined ? undefined : this.with(this.schema.items);
  }

  /** The shape at a path; numbers are places in lists. */
  at(path: (string | number)[]): Shape | undefined {
    let here: Shape | undefined = this.with(this.schema);
    for (const step of path)
      here =
        here === undefined
          ? undefined
          : typeof step === "number" || (here.schema.items !== undefined && here.schema.properties === undefined)
            ? here.items
            : here.property(step);
    return here;
  }
}

/** What a schema allows, in words. */
export function describeType(schema: Schema): string {
  if (schema["x-kubernetes-int-or-string"] || schema.format === "int-or-string") return "integer or string";
  if (schema.type === "array") return `list of ${schema.items?.type ?? "objects"}`;
  if (schema.type === "object" && typeof schema.additionalProperties === "object")
    return `map of ${schema.additionalProperties.type ?? "objects"}`;
  return (schema.type ?? "any") + (schema.format ? ` (${schema.format})` : "");
}

export function describeBounds(schema: Schema): string[] {
  const found: string[] = [];
  const add = (label: string, value: unknown): void =>
    void (value !== undefined && found.push(`${label} ${typeof value === "string" ? value : JSON.stringify(value)}`));
  add(schema.exclusiveMinimum ? ">" : "≥", schema.minimum);
  add(schema.exclusiveMaximum ? "<" : "≤", schema.maximum);
  add("multiple of", schema.multipleOf);
  add("at least characters:", schema.minLength);
  add("at most characters:", schema.maxLength);
  add("pattern", schema.pattern);
  add("at least items:", schema.minItems);
  add("at most items:", schema.maxItems);
  add("at least entries:", schema.minProperties);
  add("at most entries:", schema.maxProperties);
  add("default", schema.default);
  if (schema.enum !== undefined) found.push(`one of ${schema.enum.map((one) => JSON.stringify(one)).join(", ")}`);
  if (schema.nullable) found.push("may be null");
  if (schema["x-kubernetes-list-type"] !== undefined) found.push(`list type ${schema["x-kubernetes-list-type"]}`);
  return found;
}
