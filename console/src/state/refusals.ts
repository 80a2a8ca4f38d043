/** The requests of this session that the server rejected, newest first. */
import { signal } from "@preact/signals";

export interface Refusal {
  at: number;
  method: string;
  path: string;
  code: number;
  reason: string;
  message: string;
  dryRun: boolean;
}

const MOST = 100;
export const refusals = signal<Refusal[]>([]);

export function recordRefusal(one: Refusal): void {
  refusals.value = [one, ...refusals.value].slice(0, MOST);
}

/** Say which part of the server rejected a request, by the words that its message always has. */
export function explainRefusal(one: Refusal): string {
  const text = one.message;
  if (/exceeded quota/.test(text)) return "ResourceQuota";
  if (/ValidatingAdmissionPolicy/.test(text)) return "Admission policy";
  if (/admission webhook/.test(text)) return "Admission webhook";
  if (/read-only/.test(text)) return "Read-only server";
  if (one.code === 401) return "Login";
  if (one.code === 403 && / cannot /.test(text)) return "RBAC";
  if (one.code === 409) return one.reason === "AlreadyExists" ? "Name taken" : "Conflict";
  if (one.code === 422) return /failed rule|evaluat/.test(text) ? "Rule" : "Schema";
  if (one.code === 429) return "Too many requests";
  return one.reason || String(one.code);
}
