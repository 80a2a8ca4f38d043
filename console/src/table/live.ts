/** A live table of one kind, as a hook. */
import { useEffect, useRef, useState } from "preact/hooks";
import { type Kind, pathOf } from "../api/discovery";
import { follow, type Liveness } from "../api/follow";
import { ApiError, get, makeQuery } from "../api/http";
import { AS_TABLE, type Table } from "../api/types";
import { TableRows } from "./rows";

export interface Selection {
  namespace: string;
  labels: string;
  fields: string;
}

export interface LiveTable {
  table: TableRows;
  /** Grows with each change of the table. */
  generation: number;
  state: Liveness;
  error: Error | null;
  loadingMore: boolean;
  /** Why the next page could not be read, null if it was. */
  moreError: Error | null;
  loadMore: () => Promise<void>;
  loadAll: () => Promise<void>;
}

export const PAGE = 500;

export function useLiveTable(kind: Kind, selection: Selection): LiveTable {
  const [generation, setGeneration] = useState(0);
  const [state, setState] = useState<Liveness>("loading");
  const [error, setError] = useState<Error | null>(null);
  const [loadingMore, setLoadingMore] = useState(false);
  const [moreError, setMoreError] = useState<Error | null>(null);
  const [turn, setTurn] = useState(0);
  const table = useRef(new TableRows());
  const busy = useRef(false);
  const { namespace, labels, fields } = selection;
  const path = pathOf(kind, namespace);
  const common = { labelSelector: labels, fieldSelector: fields };

  useEffect(() => {
    const own = new TableRows();
    table.current = own;
    let frame = 0;
    const changed = (): void => {
      if (frame === 0)
        frame = requestAnimationFrame(() => {
          frame = 0;
          setGeneration((before) => before + 1);
        });
    };
    setState("loading");
    setError(null);
    setMoreError(null);
    changed();
    const stop = follow<Table>({
      accept: AS_TABLE,
      list: async (signal) => {
        const page = await get<Table>(path + makeQuery({ ...common, limit: PAGE }), { accept: AS_TABLE, signal });
        own.reset(page);
        changed();
        return own.resourceVersion;
      },
      watch: (resourceVersion) =>
        path + makeQuery({ ...common, watch: 1, resourceVersion, allowWatchBookmarks: "true" }),
      take: (events) => {
        const now = Date.now();
        const sound = events.every((event) => own.apply(event, now));
        changed();
        return sound ? own.resourceVersion : null;
      },
      state: (next, problem) => {
        setState(next);
        setError(problem ?? null);
      },
    });
    return () => {
      stop();
      cancelAnimationFrame(frame);
    };
  }, [path, labels, fields, turn]);

  const loadMore = async (): Promise<void> => {
    const own = table.current;
    if (busy.current || own.next === "") return;
    busy.current = true;
    setLoadingMore(true);
    setMoreError(null);
    try {
      const page = await get<Table>(path + makeQuery({ ...common, limit: PAGE, continue: own.next }), {
        accept: AS_TABLE,
      });
      if (table.current === own) own.append(page);
    } catch (problem) {
      if (table.current !== own) return;
      if (problem instanceof ApiError && problem.code === 410)
        setTurn((before) => before + 1); // the list is too old
      else setMoreError(problem as Error);
    } finally {
      busy.current = false;
      setLoadingMore(false);
      setGeneration((before) => before + 1);
    }
  };
  const loadAll = async (): Promise<void> => {
    const own = table.current;
    while (table.current === own && own.next !== "") {
      const before = own.next;
      await loadMore();
      if (own.next === before) return;
    }
  };
  return { table: table.current, generation, state, error, loadingMore, moreError, loadMore, loadAll };
}
