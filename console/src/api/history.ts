/** The log of changes (history.podless.dev). */
import { get, makeQuery } from "./http";
import type { ApiList, Json, Metadata } from "./types";

export interface FieldChange {
  path: string;
  before?: Json;
  after?: Json;
}

export interface Change {
  metadata: Metadata;
  operation: "create" | "update" | "delete";
  revision: number;
  previousRevision?: number;
  time: string;
  object: {
    apiVersion: string;
    kind: string;
    group: string;
    resource: string;
    namespace?: string;
    name: string;
    uid?: string;
  };
  author: {
    user?: string;
    verb?: string;
    fieldManager?: string;
    userAgent?: string;
    impersonatedBy?: string;
    subresource?: string;
  };
  fields?: FieldChange[];
  summary?: string;
  state?: Record<string, Json>;
}

export interface Wanted {
  namespace?: string;
  group?: string;
  resource?: string;
  name?: string;
  limit?: number;
  continue?: string;
  states?: boolean;
}

/** Changes, newest first. */
export async function readChanges(wanted: Wanted, signal?: AbortSignal): Promise<ApiList<Change>> {
  const scope = wanted.namespace ? `/namespaces/${encodeURIComponent(wanted.namespace)}` : "";
  const fields = [];
  if (wanted.resource !== undefined)
    fields.push(`object.group=${wanted.group ?? ""}`, `object.resource=${wanted.resource}`);
  if (wanted.name !== undefined) fields.push(`object.name=${wanted.name}`);
  const query = makeQuery({
    fieldSelector: fields.join(","),
    limit: wanted.limit,
    continue: wanted.continue,
    state: wanted.states ? "true" : undefined,
  });
  return get<ApiList<Change>>(`/apis/history.podless.dev/v1${scope}/history${query}`, { signal, quiet: true });
}
