/** What a text is worth before it is saved: its syntax, then the server's verdict by a dry run. */
import { apiVersionOf, type Kind, pathOf } from "../api/discovery";
import { ApiError, ask, makeQuery } from "../api/http";
import type { ApiObject, Json } from "../api/types";
import { readComplaints, type Complaint } from "../logic/fieldpath";
import { isObject } from "../logic/merge";
import type { Mark } from "./codemirror";
import { YamlText } from "./yaml";

export interface Verdict {
  marks: Mark[];
  /** Messages that are about no field. */
  general: string[];
  warnings: string[];
  conflict: boolean;
  sound: boolean;
}

export interface Target {
  kind: Kind;
  namespace: string;
  /** The object that is changed; null for one that is created. */
  base: ApiObject | null;
}

const MANAGER = "podless-console";

/** Send an object: create it, or put it in the place of its base. Raises ApiError. */
export async function sendObject(
  target: Target,
  value: Json,
  dryRun: boolean,
  signal?: AbortSignal,
): Promise<{ object: ApiObject; warnings: string[] }> {
  const { kind, base } = target;
  const given = (isObject(value) ? value : {}) as unknown as ApiObject;
  const metadata = isObject(given.metadata as unknown as Json) ? given.metadata : ({} as ApiObject["metadata"]);
  const query = makeQuery({ fieldManager: MANAGER, fieldValidation: "Strict", dryRun: dryRun ? "All" : undefined });
  const body = {
    ...given,
    metadata: {
      ...metadata,
      ...(base === null ? {} : { resourceVersion: base.metadata.resourceVersion, uid: base.metadata.uid }),
    },
  };
  const namespace = base?.metadata.namespace ?? metadata.namespace ?? (target.namespace || "default");
  const path = pathOf(kind, namespace, base?.metadata.name ?? "");
  const answer = await ask<ApiObject>(path + query, { method: base === null ? "POST" : "PUT", body, signal });
  return { object: answer.body, warnings: answer.warnings };
}

export function describeComplaint(complaint: Complaint): string {
  const last = complaint.path[complaint.path.length - 1];
  return last === undefined ? complaint.message : `${last}: ${complaint.message}`;
}

/** The complaints of an error of the server. */
export function complaintsOf(error: ApiError): Complaint[] {
  return readComplaints(error.message, error.status.details?.causes ?? []);
}

export async function checkText(target: Target, text: string, signal: AbortSignal): Promise<Verdict> {
  const found: Verdict = { marks: [], general: [], warnings: [], conflict: false, sound: false };
  const parsed = new YamlText(text);
  for (const problem of parsed.problems) found.marks.push({ ...problem, severity: "error" });
  if (found.marks.length > 0) return found;
  const value = parsed.value;
  if (!isObject(value)) return { ...found, general: ["The text is no object."] };
  const wanted = apiVersionOf(target.kind);
  if (value["kind"] !== target.kind.kind || value["apiVersion"] !== wanted)
    return { ...found, general: [`apiVersion and kind are ${wanted} and ${target.kind.kind} here.`] };
  try {
    const { warnings } = await sendObject(target, value, true, signal);
    return { ...found, warnings, sound: true };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.code === 409 && error.reason === "Conflict") return { ...found, conflict: true };
    for (const complaint of complaintsOf(error)) {
      if (complaint.path.length === 0) found.general.push(complaint.message);
      else {
        const [from, to] = parsed.rangeOf(complaint.path);
        found.marks.push({ from, to, message: describeComplaint(complaint), severity: "error" });
      }
    }
    return found;
  }
}
