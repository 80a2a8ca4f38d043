/** Which change gave each line of an object its value. */
import type { Json, JsonObject } from "../api/types";
import { findKey, isObject, isSame } from "./merge";
import { type Line, writeLines } from "./lines";

/** Owners of a value have its shape: an object by name, or the number of a change. */
type Owned = number | { [name: string]: Owned };

/** The text by which an item of a list is known. */
function textOf(item: Json, key: string): string {
  return (item as Record<string, string>)[key] ?? "";
}

const named = (list: Json[], key: string): JsonObject =>
  Object.fromEntries(list.map((item, index) => [key === "" ? String(index) : textOf(item, key), item]));

function settle(before: Json | undefined, after: Json, owned: Owned | undefined, change: number): Owned {
  if (before !== undefined && isSame(before, after) && owned !== undefined) return owned;
  const below = (old: JsonObject, now: JsonObject): Owned =>
    Object.fromEntries(
      Object.entries(now).map(([name, value]) => [
        name,
        settle(old[name], value, typeof owned === "object" ? owned[name] : owned, change),
      ]),
    );
  if (isObject(after) && Object.keys(after).length > 0) return below(isObject(before) ? before : {}, after);
  if (Array.isArray(after) && after.length > 0) {
    const old = Array.isArray(before) ? before : [];
    const key = findKey(old, after);
    return below(named(old, key), named(after, key));
  }
  return change;
}

/** The lines of the last state, each with the place of the change that set it. states: oldest first. */
export function blameLines(states: Json[]): Line<number>[] {
  let owned: Owned | undefined;
  let last: Json | undefined;
  states.forEach((state, change) => {
    owned = settle(last, state, owned, change);
    last = state;
  });
  if (last === undefined) return [];
  interface Mark {
    owned: Owned | undefined;
    value: Json;
  }
  const start: Mark = { owned, value: last };
  const lines = writeLines<Mark>(last, start, {
    step: (mark, step, value) => {
      if (typeof mark.owned !== "object") return { owned: mark.owned, value };
      const name =
        typeof step === "number" && Array.isArray(mark.value)
          ? findKey(mark.value) === ""
            ? String(step)
            : textOf(value, findKey(mark.value))
          : String(step);
      return { owned: mark.owned[name], value };
    },
  });
  const newest = (found: Owned | undefined): number =>
    found === undefined ? 0 : typeof found === "number" ? found : Math.max(0, ...Object.values(found).map(newest));
  return lines.map((line) => ({ ...line, mark: newest(line.mark.owned) }));
}
