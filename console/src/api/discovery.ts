/** What the server serves, from aggregated discovery. */
import { signal } from "@preact/signals";
import { ask, get } from "./http";
import { AS_METADATA, type ApiList, type ApiObject } from "./types";

export interface Kind {
  group: string;
  version: string;
  resource: string;
  singular: string;
  kind: string;
  namespaced: boolean;
  verbs: string[];
  subresources: string[];
  shortNames: string[];
  categories: string[];
  /** Whether this is the version that the server prefers. */
  preferred: boolean;
}

interface Resource {
  resource: string;
  responseKind?: { kind: string };
  scope: string;
  singularResource?: string;
  verbs: string[];
  shortNames?: string[];
  categories?: string[];
  subresources?: { subresource: string }[];
}
interface Discovered {
  items: { metadata: { name?: string }; versions: { version: string; resources?: Resource[] }[] }[];
}

const ACCEPT = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
export const kinds = signal<Kind[]>([]);
export const namespaces = signal<string[] | null>(null);
let seen = "";

export function readKinds(document: Discovered): Kind[] {
  const found: Kind[] = [];
  for (const group of document.items) {
    const known = new Set<string>();
    for (const version of group.versions) {
      for (const one of version.resources ?? []) {
        found.push({
          group: group.metadata.name ?? "",
          version: version.version,
          resource: one.resource,
          singular: one.singularResource ?? "",
          kind: one.responseKind?.kind ?? one.resource,
          namespaced: one.scope === "Namespaced",
          verbs: one.verbs,
          subresources: (one.subresources ?? []).map((sub) => sub.subresource),
          shortNames: one.shortNames ?? [],
          categories: one.categories ?? [],
          preferred: !known.has(one.resource),
        });
        known.add(one.resource);
      }
    }
  }
  return found;
}

/** Read discovery again; the signal changes only if the documents did. */
export async function loadKinds(): Promise<void> {
  const [core, groups] = await Promise.all([
    ask<Discovered>("/api", { accept: ACCEPT }),
    ask<Discovered>("/apis", { accept: ACCEPT }),
  ]);
  const tag = `${core.etag} ${groups.etag}`;
  if (tag === seen && kinds.value.length > 0) return;
  seen = tag;
  kinds.value = [...readKinds(core.body), ...readKinds(groups.body)];
}

/** Read the names of the namespaces; null if the user may not. */
export async function loadNamespaces(): Promise<void> {
  try {
    const list = await get<ApiList<ApiObject>>("/api/v1/namespaces", { accept: AS_METADATA, quiet: true });
    const names = (list.items ?? []).map((one) => one.metadata.name);
    if (names.join() !== namespaces.value?.join()) namespaces.value = names;
  } catch {
    namespaces.value = null;
  }
}

export function findKind(group: string, version: string, resource: string): Kind | undefined {
  const same = kinds.value.filter((one) => one.group === group && one.resource === resource);
  return same.find((one) => one.version === version) ?? same[0];
}

export function findByKind(apiVersion: string, kind: string): Kind | undefined {
  const [group, version] = splitApiVersion(apiVersion);
  const same = kinds.value.filter((one) => one.group === group && one.kind === kind);
  return same.find((one) => one.version === version) ?? same[0];
}

export function splitApiVersion(apiVersion: string): [string, string] {
  const slash = apiVersion.indexOf("/");
  return slash < 0 ? ["", apiVersion] : [apiVersion.slice(0, slash), apiVersion.slice(slash + 1)];
}

export function apiVersionOf(kind: Kind): string {
  return kind.group === "" ? kind.version : `${kind.group}/${kind.version}`;
}

export function rootOf(kind: Kind): string {
  return kind.group === "" ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`;
}

/** The path of a collection, or of an object, or of a subresource. */
export function pathOf(kind: Kind, namespace = "", name = "", subresource = ""): string {
  const scope = kind.namespaced && namespace !== "" ? `/namespaces/${encodeURIComponent(namespace)}` : "";
  const tail = name === "" ? "" : `/${encodeURIComponent(name)}${subresource === "" ? "" : `/${subresource}`}`;
  return `${rootOf(kind)}${scope}/${kind.resource}${tail}`;
}

export function isBuiltin(group: string): boolean {
  return !group.includes(".") || group.endsWith(".k8s.io") || group.endsWith(".podless.dev");
}
