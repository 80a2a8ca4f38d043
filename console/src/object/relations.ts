/** Who owns an object, and what it owns: the server has no index of it, so the metadata of other kinds is read. */
import { findByKind, type Kind, kinds, pathOf } from "../api/discovery";
import { get, makeQuery } from "../api/http";
import { type ApiList, type ApiObject, AS_METADATA, type Metadata } from "../api/types";

export interface Relation {
  kind: string;
  group: string;
  name: string;
  namespace: string;
  uid: string;
  known?: Kind;
  blocks: boolean;
}

export interface Dependents {
  found: Relation[];
  /** Kinds whose objects could not be read. */
  unread: string[];
}

const AT_ONCE = 4;
const MOST = 1000; // objects of a kind that are looked at

export function ownersOf(object: ApiObject): Relation[] {
  return (object.metadata.ownerReferences ?? []).map((owner) => {
    const known = findByKind(owner.apiVersion, owner.kind);
    const slash = owner.apiVersion.indexOf("/");
    return {
      kind: owner.kind,
      group: slash < 0 ? "" : owner.apiVersion.slice(0, slash),
      name: owner.name,
      namespace: known?.namespaced === false ? "" : (object.metadata.namespace ?? ""),
      uid: owner.uid,
      known,
      blocks: owner.controller === true,
    };
  });
}

/** Find the objects that name this one as an owner. */
export async function findDependents(object: ApiObject, signal?: AbortSignal): Promise<Dependents> {
  const { namespace = "", uid } = object.metadata;
  const asked = kinds.value.filter(
    (kind) =>
      kind.preferred &&
      kind.verbs.includes("list") &&
      kind.verbs.includes("delete") &&
      (namespace === "" || kind.namespaced),
  );
  const result: Dependents = { found: [], unread: [] };
  const queue = [...asked];
  const seen = new Set<string>();
  const work = async (): Promise<void> => {
    for (let kind = queue.shift(); kind !== undefined; kind = queue.shift()) {
      try {
        const list = await get<ApiList<{ metadata: Metadata }>>(pathOf(kind, namespace) + makeQuery({ limit: MOST }), {
          accept: AS_METADATA,
          signal,
          quiet: true,
        });
        for (const { metadata } of list.items ?? []) {
          const reference = metadata.ownerReferences?.find((one) => one.uid === uid);
          if (reference === undefined || seen.has(metadata.uid ?? "")) continue;
          seen.add(metadata.uid ?? "");
          result.found.push({
            kind: kind.kind,
            group: kind.group,
            name: metadata.name,
            namespace: metadata.namespace ?? "",
            uid: metadata.uid ?? "",
            known: kind,
            blocks: reference.blockOwnerDeletion === true,
          });
        }
        if (list.metadata.continue) result.unread.push(`${kind.resource} after the first ${MOST}`);
      } catch (error) {
        if (signal?.aborted) throw error;
        result.unread.push(kind.resource);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  result.found.sort((a, b) => (`${a.kind}/${a.name}` < `${b.kind}/${b.name}` ? -1 : 1));
  return result;
}
