/** Which tone a word of a status has: good, bad, busy or none. */
import type { Json } from "../api/types";

export type Tone = "good" | "bad" | "busy" | "none";

const GOOD = new Set([
  "active",
  "available",
  "bound",
  "complete",
  "completed",
  "established",
  "healthy",
  "ready",
  "running",
  "succeeded",
  "synced",
  "true",
  "ok",
]);
const BAD = new Set([
  "crashloopbackoff",
  "degraded",
  "error",
  "evicted",
  "failed",
  "failure",
  "false",
  "imagepullbackoff",
  "lost",
  "notready",
  "unhealthy",
]);
const BUSY = new Set([
  "creating",
  "deleting",
  "pending",
  "progressing",
  "provisioning",
  "reconciling",
  "terminating",
  "unknown",
  "updating",
  "waiting",
]);
const COLUMNS = /^(ready|status|phase|state|established|synced|health|available|complete|condition)$/i;

export function toneOfWord(word: string): Tone {
  const key = word.toLowerCase().replace(/[^a-z]/g, "");
  return GOOD.has(key) ? "good" : BAD.has(key) ? "bad" : BUSY.has(key) ? "busy" : "none";
}

/** The tone of a cell: only columns that tell of a state have one. */
export function toneOfCell(column: string, cell: Json): Tone {
  if (!COLUMNS.test(column) || (typeof cell !== "string" && typeof cell !== "boolean")) return "none";
  const share = /^(\d+)\/(\d+)$/.exec(String(cell));
  if (share !== null) return share[1] === share[2] ? "good" : "busy";
  return toneOfWord(String(cell));
}

const BAD_WHEN_TRUE =
  /(Pressure|Unavailable|Failure|Failed|Stalled|Degraded|NonStructuralSchema|Terminating|Disruption|Conflict)/;

/** The tone of a condition; some are bad when true. */
export function toneOfCondition(type: string, status: string): Tone {
  if (status === "Unknown") return "busy";
  const bad = BAD_WHEN_TRUE.test(type);
  if (status === "True") return bad ? "bad" : "good";
  return bad ? "none" : /^(Progressing|Suspended)$/.test(type) ? "busy" : "bad";
}
