/**
 * The form's verdict against the recorded one of a real server, on every object that the scenarios send to a kind of
 * a definition of theirs. Rules in CEL, names and webhooks are the server's own, and left out.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Json } from "../src/api/types";
import { validateObject } from "../src/form/validate";
import { isObject } from "../src/logic/merge";
import { exampleOf } from "../src/schema/example";
import { type Schema, Shape } from "../src/schema/shape";

interface Step {
  method?: string;
  path?: string;
  body?: unknown;
  expect?: { status?: number; body?: unknown };
}
interface Definition {
  kind: string;
  spec: {
    group: string;
    names: { plural: string };
    versions: {
      name: string;
      served: boolean;
      schema?: { openAPIV3Schema?: Schema };
      subresources?: { status?: object };
    }[];
  };
}
interface Judged {
  shape: Shape;
  ownStatus: boolean;
  /** The messages of its rules; null if they cannot be told from those of the schema. */
  rules: string[] | null;
}
interface Status {
  reason?: string;
  details?: { causes?: { reason?: string; field?: string; message?: string }[] };
}

const FOLDER = [
  process.env["PODLESS_SCENARIOS"] ?? "",
  "../../shared/conformance/scenarios",
  "../../../shared/conformance/scenarios",
].find((path) => path !== "" && existsSync(path));

function list(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory()
      ? list(join(folder, entry.name))
      : entry.name.endsWith(".json")
        ? [join(folder, entry.name)]
        : [],
  );
}

// formats that the form leaves to the dry run of the server are those that forms/validate.ts does not name
const OF_SCHEMA =
  /must be of type (string|integer|number|boolean|array|object|null|date-time|date|ipv4|email|byte)\b|^Unsupported value|should be (at least|less|greater|a multiple)|should (have|match)|^Required value$|must have at most|^Duplicate value|Too (long|many)|must validate/;
const QUERY = ["dryRun", "fieldValidation", "fieldManager", "kind", "apiVersion"];

/** Whether a refusal is about the schema of the object, and not its metadata, the query, its scale or rules. */
function isOfSchema(status: Status | undefined, rules: string[] | null): boolean {
  const causes = rules === null ? [] : (status?.details?.causes ?? []);
  return causes.some(
    ({ field = "", message = "" }) =>
      !/^(\.|metadata)/.test(field) &&
      !QUERY.includes(field) &&
      OF_SCHEMA.test(message) &&
      !rules?.some((rule) => message.endsWith(rule)),
  );
}

/** Whether rules have reasons of their own, which make their refusals look like those of a schema. */
const hasReasons = (version: unknown): boolean =>
  /"x-kubernetes-validations":\[[^\]]*"reason"/.test(JSON.stringify(version));

/** The messages of all rules of a schema; a refusal with one of them is about a rule. */
function ruleMessages(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(ruleMessages);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    name === "x-kubernetes-validations" && Array.isArray(inner)
      ? (inner as { message?: string; rule: string }[]).map((one) => one.message ?? `failed rule: ${one.rule}`)
      : ruleMessages(inner),
  );
}

/** A definition as the server keeps it: a null is no value. */
function dropNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(dropNulls);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, inner]) => inner !== null)
      .map(([name, inner]) => [name, dropNulls(inner)]),
  );
}

interface Found {
  definitions: number;
  /** Definitions with an object that was compared. */
  compared: number;
  examples: number;
  accepted: number;
  refused: number;
  wrong: string[];
  /** Definitions for which no example could be made: a pattern or an alternative that the generator does not solve. */
  unfit: string[];
}

export function compareVerdicts(folder: string): Found {
  const found: Found = { definitions: 0, compared: 0, examples: 0, accepted: 0, refused: 0, wrong: [], unfit: [] };
  for (const file of list(folder)) {
    const scenario = JSON.parse(readFileSync(file, "utf8")) as { name: string; steps?: Step[] };
    const shapes = new Map<string, Judged>();
    const compared = new Set<string>();
    const keep = (definition: Definition, place: string): void => {
      const { group, names, versions } = definition.spec;
      for (const version of versions) {
        const shape = new Shape(version.schema?.openAPIV3Schema ?? {}, {});
        const ownStatus = version.subresources?.status !== undefined;
        const rules = hasReasons(version) ? null : ruleMessages(version);
        shapes.set(`${group}/${version.name}/${names.plural}`, { shape, ownStatus, rules });
        const example = exampleOf(shape);
        const complaints = validateObject(shape, isObject(example) ? example : {}, ownStatus);
        found.examples++;
        if (complaints.length > 0) found.unfit.push(place);
      }
    };
    (scenario.steps ?? []).forEach((step, index) => {
      const place = `${scenario.name} step ${index}`;
      const body = step.body as Definition | undefined;
      const status = step.expect?.status ?? 0;
      const path = (step.path ?? "").split("?")[0] ?? "";
      if (path.includes("/apiextensions.k8s.io/v1/customresourcedefinitions")) {
        const told = step.expect?.body as Definition | undefined;
        if (step.method === "POST" && status === 201 && body?.kind === "CustomResourceDefinition") {
          found.definitions++;
          keep(told?.spec?.versions !== undefined ? told : (dropNulls(body) as Definition), place);
        } else if (["PUT", "PATCH"].includes(step.method ?? "") && status === 200 && told?.spec?.versions !== undefined)
          keep(told, place);
        else if (["PUT", "PATCH", "DELETE"].includes(step.method ?? "") && status < 300) shapes.clear(); // not followed here
        return;
      }
      const parts = /^\/apis\/([^/]+)\/([^/]+)\/(?:namespaces\/[^/]+\/)?([^/]+)(\/[^/]+)?$/.exec(path);
      const key = (parts ?? []).slice(1, 4).join("/");
      const shape = shapes.get(key);
      const whole = step.method === (parts?.[4] === undefined ? "POST" : "PUT");
      if (!whole || shape === undefined || typeof step.body !== "object" || step.body === null) return;
      const complaints = validateObject(shape.shape, step.body as Record<string, Json>, shape.ownStatus);
      const refuses = complaints.length > 0;
      if (status === 201 || status === 200) {
        found.accepted++;
        compared.add(key);
        if (refuses)
          found.wrong.push(`${place}: the form refuses what the server accepts: ${JSON.stringify(complaints)}`);
      } else if (status === 422 && isOfSchema(step.expect?.body as Status | undefined, shape.rules)) {
        found.refused++;
        compared.add(key);
        if (!refuses)
          found.wrong.push(
            `${place}: the form accepts what the server refuses: ${JSON.stringify((step.expect?.body as Status).details?.causes)}`,
          );
      }
    });
    found.compared += compared.size;
  }
  return found;
}

it.skipIf(FOLDER === undefined)(
  "the form judges as the server does",
  () => {
    const found = compareVerdicts(FOLDER as string);
    const { definitions, compared, examples, accepted, refused, wrong, unfit } = found;
    console.log(
      `${definitions} definitions, ${examples} versions (no example for ${unfit.length}), ${compared} versions with objects: ${accepted} accepted, ${refused} refused, ${wrong.length} differ`,
    );
    expect(found.accepted).toBeGreaterThan(800);
    expect(found.refused).toBeGreaterThan(190);
    expect(found.unfit.length).toBeLessThan(10);
    expect(found.wrong).toEqual([]);
  },
  120_000,
);
