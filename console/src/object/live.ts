/** One object that stays true, as a hook. */
import { useEffect, useState } from "preact/hooks";
import { type Kind, pathOf } from "../api/discovery";
import { follow, type Liveness } from "../api/follow";
import { get, makeQuery } from "../api/http";
import type { ApiList, ApiObject } from "../api/types";

export interface LiveObject {
  object: ApiObject | null;
  /** Whether the object was there and is not any more; `object` is then its last state. */
  gone: boolean;
  state: Liveness;
  error: Error | null;
}

export function useLiveObject(kind: Kind, namespace: string, name: string): LiveObject {
  const [live, setLive] = useState<LiveObject>({ object: null, gone: false, state: "loading", error: null });
  const path = pathOf(kind, namespace);
  useEffect(() => {
    setLive({ object: null, gone: false, state: "loading", error: null });
    const fieldSelector = `metadata.name=${name}`;
    return follow<ApiObject>({
      list: async (signal) => {
        if (!kind.verbs.includes("list")) {
          const object = await get<ApiObject>(pathOf(kind, namespace, name), { signal });
          setLive((before) => ({ ...before, object }));
          return object.metadata.resourceVersion ?? "";
        }
        const list = await get<ApiList & { apiVersion: string; kind: string }>(path + makeQuery({ fieldSelector }), {
          signal,
        });
        const found = list.items?.[0];
        // items of lists of built-in kinds do not say what they are
        const object =
          found === undefined
            ? null
            : { ...found, apiVersion: found.apiVersion ?? list.apiVersion, kind: found.kind ?? kind.kind };
        setLive((before) => ({ ...before, object: object ?? before.object, gone: object === null }));
        return list.metadata.resourceVersion ?? "";
      },
      watch: (resourceVersion) =>
        path + makeQuery({ fieldSelector, watch: 1, resourceVersion, allowWatchBookmarks: "true" }),
      take: (events) => {
        let version: string | null = "";
        for (const event of events) {
          if (event.type === "ERROR") return null;
          version = event.object.metadata.resourceVersion ?? version;
          if (event.type !== "BOOKMARK")
            setLive((before) => ({ ...before, object: event.object, gone: event.type === "DELETED" }));
        }
        return version;
      },
      state: (state, error) => setLive((before) => ({ ...before, state, error: error ?? null })),
    });
  }, [path, name]);
  return live;
}
