/** Lists that stay true: a list, then a watch from where it ended, again and again until the caller has enough. */
import { ApiError, watch } from "./http";
import type { WatchEvent } from "./types";

export type Liveness = "loading" | "live" | "paused" | "reconnecting" | "failed";

export interface Follower<T> {
  /** Read the list; returns the resourceVersion from which the watch goes on. */
  list: (signal: AbortSignal) => Promise<string>;
  /** The path of the watch from a resourceVersion. */
  watch: (resourceVersion: string) => string;
  accept?: string;
  /** Take events; returns the resourceVersion to go on from, null to list again. */
  take: (events: WatchEvent<T>[]) => string | null;
  state: (state: Liveness, error?: Error) => void;
}

const FIRST = 300; // milliseconds before the second attempt
const LONGEST = 5000;
const HIDDEN = 10_000; // milliseconds for which a hidden tab goes on; browsers allow six connections to a server

function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });
}

function waitVisible(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (!document.hidden || signal.aborted) {
        document.removeEventListener("visibilitychange", look);
        resolve();
      }
    };
    document.addEventListener("visibilitychange", look);
    signal.addEventListener("abort", look, { once: true });
    look();
  });
}

/** An abort signal for one watch: it also fires when the tab was hidden for a while. */
function untilHidden(outer: AbortSignal): [AbortController, () => void] {
  const inner = new AbortController();
  let timer = 0;
  const look = (): void => {
    window.clearTimeout(timer);
    if (document.hidden) timer = window.setTimeout(() => inner.abort(), HIDDEN);
  };
  const end = (): void => inner.abort();
  document.addEventListener("visibilitychange", look);
  outer.addEventListener("abort", end);
  const clean = (): void => {
    window.clearTimeout(timer);
    document.removeEventListener("visibilitychange", look);
    outer.removeEventListener("abort", end);
  };
  return [inner, clean];
}

export function follow<T>(follower: Follower<T>): () => void {
  const whole = new AbortController();
  void run(follower, whole.signal);
  return () => whole.abort();
}

async function run<T>(follower: Follower<T>, signal: AbortSignal): Promise<void> {
  let version: string | null = null;
  let wait = FIRST;
  while (!signal.aborted) {
    const [inner, clean] = untilHidden(signal);
    try {
      if (version === null) version = await follower.list(signal);
      if (signal.aborted) return;
      follower.state("live");
      for await (const events of watch<T>(follower.watch(version), {
        accept: follower.accept,
        signal: inner.signal,
        quiet: true,
      })) {
        if (signal.aborted) return;
        wait = FIRST;
        version = follower.take(events);
        if (version === null) break;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (inner.signal.aborted) {
        follower.state("paused");
        await waitVisible(signal);
      } else if (error instanceof ApiError && error.code === 410) version = null;
      else if (error instanceof ApiError && error.code !== 429 && error.code < 500) {
        follower.state("failed", error);
        return;
      } else {
        follower.state("reconnecting", error as Error);
        await sleep(wait, signal);
        wait = Math.min(wait * 2, LONGEST);
      }
    } finally {
      clean();
    }
  }
}
