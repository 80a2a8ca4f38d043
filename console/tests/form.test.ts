import { describe, expect, it } from "vitest";
import type { Json } from "../src/api/types";
import { readIntOrString, setAt } from "../src/form/model";
import { readPattern, validateValue } from "../src/form/validate";
import { exampleOf } from "../src/schema/example";
import { type Schema, Shape } from "../src/schema/shape";

const shape = (schema: Schema): Shape => new Shape(schema, {});

describe("forms", () => {
  it("complain of what the schema excludes", () => {
    const schema = shape({
      type: "object",
      required: ["a"],
      properties: {
        a: { type: "integer", minimum: 1, maximum: 3 },
        b: { "x-kubernetes-int-or-string": true },
        c: { type: "array", maxItems: 1, items: { type: "string", enum: ["x"] } },
        d: { type: "object", additionalProperties: { type: "string", maxLength: 2 } },
      },
    });
    const paths = (value: Json): string[] => validateValue(schema, value).map((one) => one.path.join("."));
    expect(paths({ a: 2, b: "50%", c: ["x"], d: { k: "ab" } })).toEqual([]);
    expect(paths({})).toEqual(["a"]);
    expect(paths({ a: 4, b: 1.5, c: ["y", "x"], d: { k: "abc" } })).toEqual(["a", "b", "c", "c.0", "d.k"]);
  });
  it("take Go's patterns", () => {
    expect(readPattern("(?i)^a\\z")?.test("A")).toBe(true);
    expect(readPattern("[[:alpha:]]+")?.test("1")).toBe(false);
  });
  it("change values at a path", () => {
    expect(setAt({ a: [1, 2] }, ["a", 0], undefined)).toEqual({ a: [2] });
    expect(setAt({}, ["a", "b"], 1)).toEqual({ a: { b: 1 } });
    expect([readIntOrString("80"), readIntOrString("50%"), readIntOrString("08")]).toEqual([80, "50%", "08"]);
  });
  it("examples fit their schema", () => {
    const schema = shape({
      type: "object",
      required: ["a", "b", "c"],
      properties: {
        a: { type: "string", minLength: 9 },
        b: { type: "number", minimum: 2, exclusiveMinimum: true },
        c: { type: "array", minItems: 2, items: { type: "boolean" } },
        d: { type: "string", default: "x" },
      },
    });
    expect(validateValue(schema, exampleOf(schema))).toEqual([]);
  });
});
