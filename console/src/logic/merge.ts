/** What two people changed in the same object, put together. */
import type { Json, JsonObject } from "../api/types";

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isSame(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => isSame(item, b[index]));
  if (isObject(a) && isObject(b)) {
    const names = Object.keys(a);
    return names.length === Object.keys(b).length && names.every((name) => name in b && isSame(a[name], b[name]));
  }
  return false;
}

export interface Merged {
  value: Json;
  /** Paths of fields that both changed, in different ways; they have the value of mine. */
  conflicts: string[];
}

const KEYS = ["name", "type", "key", "id"];

/** The field by which the items of all lists can be told apart, "" where there is none. */
export function findKey(...lists: Json[][]): string {
  const fits = (key: string): boolean =>
    lists.every(
      (list) =>
        list.every((item) => isObject(item) && typeof item[key] === "string") &&
        new Set(list.map((item) => (item as JsonObject)[key])).size === list.length,
    );
  return lists.some((list) => list.length > 0) ? (KEYS.find(fits) ?? "") : "";
}

function byKey(list: Json[], key: string): JsonObject {
  return Object.fromEntries(list.map((item) => [(item as JsonObject)[key] as string, item]));
}

const GONE = Symbol("gone");
type Side = Json | typeof GONE;

function mergeObjects(
  base: JsonObject,
  mine: JsonObject,
  theirs: JsonObject,
  path: string,
  conflicts: string[],
  show: (name: string) => string,
): JsonObject {
  const found: JsonObject = {};
  const names = [...new Set([...Object.keys(theirs), ...Object.keys(mine)])];
  for (const name of names) {
    const side = (from: JsonObject): Side => (Object.hasOwn(from, name) ? (from[name] as Json) : GONE);
    const value = mergeValue(side(base), side(mine), side(theirs), path + show(name), conflicts);
    if (value !== GONE) found[name] = value;
  }
  return found;
}

function equal(a: Side, b: Side): boolean {
  return a === GONE || b === GONE ? a === b : isSame(a, b);
}

function mergeValue(base: Side, mine: Side, theirs: Side, path: string, conflicts: string[]): Side {
  if (equal(mine, theirs) || equal(base, theirs)) return mine;
  if (equal(base, mine)) return theirs;
  if (mine !== GONE && theirs !== GONE) {
    const old = base === GONE ? {} : base;
    if (isObject(mine) && isObject(theirs))
      return mergeObjects(isObject(old) ? old : {}, mine, theirs, path, conflicts, (name) =>
        path === "" ? name : `.${name}`,
      );
    if (Array.isArray(mine) && Array.isArray(theirs)) {
      const before = Array.isArray(old) ? old : [];
      const key = findKey(before, mine, theirs);
      if (key !== "")
        return Object.values(
          mergeObjects(
            byKey(before, key),
            byKey(mine, key),
            byKey(theirs, key),
            path,
            conflicts,
            (name) => `[${name}]`,
          ),
        );
    }
  }
  conflicts.push(path);
  return mine;
}

/** Put the changes of mine and theirs since base together. */
export function mergeThree(base: Json, mine: Json, theirs: Json): Merged {
  const conflicts: string[] = [];
  const value = mergeValue(base, mine, theirs, "", conflicts);
  return { value: value === GONE ? null : value, conflicts };
}
