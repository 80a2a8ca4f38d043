/**
 * The form's verdict against the recorded one of a real server, on every object that the scenarios send to a kind of
 * a definition of theirs. Rules in CEL, names and webhooks are the server's own, and left out.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Json } from "../src/api/types";
import { validateObject } from "../src/form/validate";
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
  rules: boolean;
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
function isOfSchema(status: Status | undefined): boolean {
  const causes = status?.details?.causes ?? [];
  return causes.some(
    ({ field = "", message = "" }) =>
      !/^(\.|metadata)/.test(field) && !QUERY.includes(field) && OF_SCHEMA.test(message),
  );
}

export function compareVerdicts(folder: string): { accepted: number; refused: number; wrong: string[] } {
  const found = { accepted: 0, refused: 0, wrong: [] as string[] };
  for (const file of list(folder)) {
    const scenario = JSON.parse(readFileSync(file, "utf8")) as { name: string; steps?: Step[] };
    const shapes = new Map<string, Judged>();
    (scenario.steps ?? []).forEach((step, index) => {
      const body = step.body as Definition | undefined;
      const status = step.expect?.status ?? 0;
      const path = (step.path ?? "").split("?")[0] ?? "";
      if (path.includes("/apiextensions.k8s.io/v1/customresourcedefinitions")) {
        if (step.method === "POST" && status === 201 && body?.kind === "CustomResourceDefinition")
          for (const version of body.spec.versions)
            shapes.set(`${body.spec.group}/${version.name}/${body.spec.names.plural}`, {
              shape: new Shape(version.schema?.openAPIV3Schema ?? {}, {}),
              ownStatus: version.subresources?.status !== undefined,
              rules: JSON.stringify(version).includes("x-kubernetes-validations"),
            });
        else if (step.method !== "GET") shapes.clear(); // changed in a way that is not followed here
        return;
      }
      const parts = /^\/apis\/([^/]+)\/([^/]+)\/(?:namespaces\/[^/]+\/)?([^/]+)$/.exec(path);
      const shape = shapes.get((parts ?? []).slice(1).join("/"));
      if (step.method !== "POST" || shape === undefined || typeof step.body !== "object" || step.body === null) return;
      const complaints = validateObject(shape.shape, step.body as Record<string, Json>, shape.ownStatus);
      const refuses = complaints.length > 0;
      if (status === 201) {
        found.accepted++;
        if (refuses)
          found.wrong.push(
            `${scenario.name} step ${index}: the form refuses what the server accepts: ${JSON.stringify(complaints)}`,
          );
      } else if (status === 422 && !shape.rules && isOfSchema(step.expect?.body as Status | undefined)) {
        found.refused++;
        if (!refuses)
          found.wrong.push(
            `${scenario.name} step ${index}: the form accepts what the server refuses: ${JSON.stringify((step.expect?.body as Status).details?.causes)}`,
          );
      }
    });
  }
  return found;
}

it.skipIf(FOLDER === undefined)("the form judges as the server does", () => {
  const found = compareVerdicts(FOLDER as string);
  console.log(`form and server: ${found.accepted} accepted, ${found.refused} refused, ${found.wrong.length} differ`);
  expect(found.accepted).toBeGreaterThan(100);
  expect(found.wrong).toEqual([]);
});
