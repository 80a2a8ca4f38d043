import { describe, expect, it } from "vitest";
import type { Json } from "../src/api/types";
import { findPlace, findSiblings } from "../src/editor/context";
import { writeYaml, YamlText } from "../src/editor/yaml";
import { blameLines } from "../src/logic/blame";
import { diffLines, foldSame } from "../src/logic/diff";
import { parseFieldPath, readComplaints } from "../src/logic/fieldpath";
import { mergeThree } from "../src/logic/merge";
import { writeOwnedLines } from "../src/logic/owners";
import { formatAge } from "../src/logic/time";
import { parseMetrics, quantile, sum } from "../src/server/metrics";
import { explainRefusal } from "../src/state/refusals";

describe("differences", () => {
  const random = (seed: number) => () => (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648;
  it("lead from one text to the other", () => {
    const next = random(7);
    for (let round = 0; round < 300; round++) {
      const text = (): string =>
        Array.from({ length: Math.floor(next() * 12) }, () => "abc"[Math.floor(next() * 3)]).join("\n");
      const [a, b] = [text(), text()];
      const lines = diffLines(a, b);
      expect(
        lines
          .filter((line) => line.kind !== "added")
          .map((line) => line.text)
          .join("\n"),
      ).toBe(a);
      expect(
        lines
          .filter((line) => line.kind !== "removed")
          .map((line) => line.text)
          .join("\n"),
      ).toBe(b);
    }
  });
  it("fold what is the same", () => {
    const lines = diffLines("1\n2\n3\n4\n5\n6\n7\n8\n9", "1\n2\n3\n4\n5\n6\n7\n8\nx");
    expect(foldSame(lines, 1)).toEqual([
      null,
      { kind: "same", text: "8" },
      { kind: "removed", text: "9" },
      { kind: "added", text: "x" },
    ]);
  });
});

describe("merging", () => {
  it("keeps what both changed apart", () => {
    const base: Json = {
      a: 1,
      b: 1,
      list: [
        { name: "x", v: 1 },
        { name: "y", v: 1 },
      ],
    };
    const merged = mergeThree(
      base,
      {
        a: 2,
        b: 1,
        list: [
          { name: "x", v: 2 },
          { name: "y", v: 1 },
        ],
      },
      {
        a: 1,
        b: 3,
        list: [
          { name: "x", v: 1 },
          { name: "y", v: 5 },
          { name: "z", v: 1 },
        ],
      },
    );
    expect(merged).toEqual({
      value: {
        a: 2,
        b: 3,
        list: [
          { name: "x", v: 2 },
          { name: "y", v: 5 },
          { name: "z", v: 1 },
        ],
      },
      conflicts: [],
    });
  });
  it("tells what both changed, and keeps mine", () => {
    expect(mergeThree({ spec: { a: 1 } }, { spec: { a: 2 } }, { spec: { a: 3 } })).toEqual({
      value: { spec: { a: 2 } },
      conflicts: ["spec.a"],
    });
    expect(mergeThree({ a: 1 }, {}, { a: 2 })).toEqual({ value: {}, conflicts: ["a"] });
    expect(mergeThree({ a: 1, b: 1 }, { a: 1 }, { b: 1 })).toEqual({ value: {}, conflicts: [] });
  });
});

describe("field paths and positions", () => {
  it("are read as the server writes them", () => {
    expect(parseFieldPath("spec.users[0].name")).toEqual(["spec", "users", 0, "name"]);
    expect(parseFieldPath("data[a.b/c]")).toEqual(["data", "a.b/c"]);
    expect(
      readComplaints('strict decoding error: unknown field "spec.x", duplicate field "spec.y"', []).map((one) =>
        one.path.join("."),
      ),
    ).toEqual(["spec.x", "spec.y"]);
  });
  it("lead to the field in the text, or the nearest one above", () => {
    const text = "spec:\n  users:\n  - name: a\n    grants: [x]\n  replicas: 12\n";
    const yaml = new YamlText(text);
    const at = (path: (string | number)[]): string => text.slice(...yaml.rangeOf(path));
    expect(at(["spec", "replicas"])).toBe("12");
    expect(at(["spec", "users", 0, "name"])).toBe("a");
    expect(at(["spec", "missing"])).toBe("spec");
    expect(yaml.problems).toEqual([]);
    expect(new YamlText("a: [").problems.length).toBeGreaterThan(0);
  });
  it("texts come back as they were", () => {
    for (const value of [
      {
        a: "yes",
        b: "1",
        c: "2026-01-31T12:00:00Z",
        d: null,
        e: [{ f: "x\ny\n" }],
        g: "0o7",
        h: "~",
        i: 1.5,
        j: "",
        k: "1e3",
        l: "0x1F",
        m: ".5",
        n: "1_000",
        o: "12:30:00",
        on: "off",
        "1": "null",
      },
    ])
      expect(new YamlText(writeYaml(value)).value).toEqual(value);
  });
  it("are found while the text is written", () => {
    const text = "spec:\n  users:\n  - name: a\n    gr\n  - name: b\n    grants:\n    - x\n  engine: ";
    expect(findPlace(text, 3, 6)).toMatchObject({ parent: ["spec", "users", 0] });
    expect(findPlace(text, 4, 4)).toMatchObject({ parent: ["spec", "users", 1], key: "name", inValue: false });
    expect(findPlace(text, 6, 6)).toMatchObject({ parent: ["spec", "users", 1, "grants", 0] });
    expect(findPlace(text, 7, 10)).toMatchObject({ parent: ["spec"], key: "engine", inValue: true });
    expect(findSiblings(text, 3, 4)).toEqual(new Set(["name"]));
  });
});

describe("owners", () => {
  it("are found by name, key and value", () => {
    const value: Json = { spec: { a: 1, users: [{ name: "x", v: 2 }], tags: ["t"] } };
    const lines = writeOwnedLines(value, [
      {
        manager: "one",
        operation: "Apply",
        apiVersion: "v1",
        fieldsV1: { "f:spec": { "f:a": {}, "f:users": { 'k:{"name":"x"}': { ".": {}, "f:name": {} } } } },
      },
      {
        manager: "two",
        operation: "Apply",
        apiVersion: "v1",
        fieldsV1: { "f:spec": { "f:users": { 'k:{"name":"x"}': { "f:v": {} } }, "f:tags": { 'v:"t"': {} } } },
      },
    ]);
    const of = (text: string): number[] | undefined => lines.find((line) => line.text.includes(text))?.mark;
    expect([of("a: 1"), of("name: x"), of("v: 2"), of("- t")]).toEqual([[0], [0], [1], [1]]);
  });
  it("of lines are the changes that set them", () => {
    const lines = blameLines([
      { a: 1, list: [{ name: "x", v: 1 }] },
      {
        a: 1,
        list: [
          { name: "w", v: 1 },
          { name: "x", v: 1 },
        ],
      },
      {
        a: 2,
        list: [
          { name: "w", v: 1 },
          { name: "x", v: 3 },
        ],
      },
    ]);
    expect(lines.map((line) => [line.text.trim(), line.mark])).toEqual([
      ["a: 2", 2],
      ["list:", 2],
      ["- name: w", 1],
      ["v: 1", 1],
      ["- name: x", 0],
      ["v: 3", 2],
    ]);
  });
});

describe("metrics", () => {
  const text = (n: number): string =>
    `# TYPE x counter\nx{verb="GET",code="200"} ${n}\nd_bucket{le="0.1"} ${n}\nd_bucket{le="1"} ${2 * n}\nd_bucket{le="+Inf"} ${2 * n}\n`;
  it("are parsed and summed", () => {
    expect(sum(parseMetrics(text(3)), "x", (labels) => labels["code"] === "200")).toBe(3);
  });
  it("give quantiles between two readings", () => {
    expect(quantile(parseMetrics(text(0)), parseMetrics(text(10)), "d", 0.5, () => true)).toBeCloseTo(0.1);
  });
});

it("ages are those of kubectl", () => {
  const now = Date.parse("2026-01-02T00:00:00Z");
  const ago = (seconds: number): string => formatAge(new Date(now - seconds * 1000).toISOString(), now);
  expect([0, 119, 120, 601, 10800, 28800 - 60, 172800, 700000].map(ago)).toEqual([
    "0s",
    "119s",
    "2m",
    "10m",
    "3h",
    "7h59m",
    "2d",
    "8d",
  ]);
});

describe("the part of the server that rejected a request", () => {
  const texts: [string, number, string, string][] = [
    ["RBAC", 403, "Forbidden", 'pods is forbidden: User "dev" cannot list resource "pods" in API group ""'],
    ["ResourceQuota", 403, "Forbidden", 'pods "a" is forbidden: exceeded quota: few, requested: pods=1, used: pods=1'],
    [
      "Admission policy",
      422,
      "Invalid",
      "pods \"a\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied",
    ],
    ["Admission webhook", 400, "BadRequest", 'admission webhook "w.example.com" denied the request: no'],
    ["Rule", 422, "Invalid", 'Gadget "a" is invalid: spec: Invalid value: failed rule: self.a < self.b'],
    ["Schema", 422, "Invalid", 'Gadget "a" is invalid: spec.size: Invalid value: 0: should be greater than 1'],
    ["Name taken", 409, "AlreadyExists", 'pods "a" already exists'],
    ["Conflict", 409, "Conflict", "the object has been modified; please apply your changes to the latest version"],
    ["Too many requests", 429, "TooManyRequests", "too many requests, please try again later"],
  ];
  it.each(texts)("is told as %s", (told, code, reason, message) => {
    const one = { at: 0, method: "POST", path: "/api", code, reason, message, dryRun: false };
    expect(explainRefusal(one)).toBe(told);
  });
});
