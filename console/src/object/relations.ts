/** Who owns an object, and what it owns: the server has no index of it, so the metadata of other kinds is read. */
import { findByKind, type Kind, kinds, pathOf, splitApiVersion } from "../api/discovery";
import { get, makeQuery } from "../api/http";
import { type ApiList, type ApiObject, AS_METADATA, type Metadata } from "../api/types";

export interface Relation {
  kind: string;
  group: string;
  name: string;
  namespace: string;
  uid: string;
  known?: Kind;
  /** The object for which it is there: of a dependent its owner, of an owner its dependent. */
  near: string;
  /** Steps from the object: negative for owners, positive for dependents. */
  depth: number;
  /** Whether the reference is that of the controller, or blocks the deletion of the owner. */
  strong: boolean;
}

export interface Relations {
  owners: Relation[];
  /** Dependents and theirs, those of an object after each other. */
  dependents: Relation[];
  /** Kinds whose objects could not be read. */
  unread: string[];
}

export interface Found {
  kind: Kind;
  metadata: Metadata;
}

const AT_ONCE = 4;
const MOST = 1000; // objects of a kind that are looked at
const MOST_SHOWN = 500; // relations; deeper ones are left out

/** The owners of an object and theirs, as far as their metadata is known. */
export function listOwners(metadata: Metadata, known: Map<string, Found>): Relation[] {
  const found: Relation[] = [];
  const seen = new Set([metadata.uid]);
  let level: { near: string; metadata: Metadata }[] = [{ near: metadata.uid ?? "", metadata }];
  for (let depth = -1; level.length > 0; depth--) {
    const next: typeof level = [];
    for (const { near, metadata: of } of level) {
      for (const owner of of.ownerReferences ?? []) {
        if (seen.has(owner.uid)) continue;
        seen.add(owner.uid);
        const kind = findByKind(owner.apiVersion, owner.kind);
        const [group] = splitApiVersion(owner.apiVersion);
        const namespace = kind?.namespaced === false ? "" : (of.namespace ?? "");
        const { name, uid } = owner;
        found.push({
          kind: owner.kind,
          group,
          name,
          namespace,
          uid,
          known: kind,
          near,
          depth,
          strong: owner.controller === true,
        });
        const above = known.get(owner.uid);
        if (above !== undefined) next.push({ near: uid, metadata: above.metadata });
      }
    }
    level = next;
  }
  return found;
}

/** The objects that name this one as an owner, and those that name these. */
export function listDependents(uid: string, known: Map<string, Found>): Relation[] {
  const byOwner = new Map<string, Found[]>();
  for (const one of known.values())
    for (const owner of one.metadata.ownerReferences ?? [])
      byOwner.set(owner.uid, [...(byOwner.get(owner.uid) ?? []), one]);
  const found: Relation[] = [];
  const seen = new Set([uid]);
  const nameOf = ({ kind, metadata }: Found): string => `${kind.kind}/${metadata.name}`;
  const descend = (near: string, depth: number): void => {
    const next = [...(byOwner.get(near) ?? [])].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
    for (const { kind, metadata } of next) {
      const own = metadata.uid ?? "";
      if (seen.has(own) || found.length >= MOST_SHOWN) continue;
      seen.add(own);
      const strong = metadata.ownerReferences?.find((one) => one.uid === near)?.blockOwnerDeletion === true;
      const { name, namespace = "" } = metadata;
      found.push({ kind: kind.kind, group: kind.group, name, namespace, uid: own, known: kind, near, depth, strong });
      descend(own, depth + 1);
    }
  };
  descend(uid, 1);
  return found;
}

/** Read the metadata of all objects that can be related to one, and find its owners and dependents. */
export async function findRelations(object: ApiObject, signal?: AbortSignal): Promise<Relations> {
  const { namespace = "", uid = "" } = object.metadata;
  const fits = (kind: Kind): boolean =>
    kind.preferred &&
    kind.verbs.includes("list") &&
    kind.verbs.includes("delete") &&
    (namespace === "" || kind.namespaced);
  const queue = kinds.value.filter(fits);
  const known = new Map<string, Found>();
  const unread: string[] = [];
  const work = async (): Promise<void> => {
    for (let kind = queue.shift(); kind !== undefined; kind = queue.shift()) {
      try {
        const path = pathOf(kind, namespace) + makeQuery({ limit: MOST });
        const list = await get<ApiList<{ metadata: Metadata }>>(path, { accept: AS_METADATA, signal, quiet: true });
        for (const { metadata } of list.items ?? []) {
          const own = metadata.uid ?? "";
          if (!known.has(own)) known.set(own, { kind, metadata });
        }
        if (list.metadata.continue) unread.push(`${kind.resource} after the first ${MOST}`);
      } catch (error) {
        if (signal?.aborted) throw error;
        unread.push(kind.resource);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return { owners: listOwners(object.metadata, known), dependents: listDependents(uid, known), unread };
}
