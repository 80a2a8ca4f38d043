/** The estimated costs of a definition's rules, from its GET with ?ruleCosts=true. */
import { get } from "../api/http";

export interface RuleCost {
  /** The node, such as properties[spec].properties[users].items. */
  path: string;
  rule: string;
  once: number;
  times: number;
  cost: number;
  messageCost: number;
  error?: string;
}

export interface Costs {
  kind: string;
  limits: { rule: number; total: number };
  versions: { name: string; total: number; rules: RuleCost[] }[];
}

/** Read the costs. Throws an error for a server that does not tell them. */
export async function readCosts(definition: string, signal: AbortSignal): Promise<Costs> {
  const found = await get<Costs>(
    `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${encodeURIComponent(definition)}?ruleCosts=true`,
    { signal, quiet: true },
  );
  if (found.kind !== "RuleCosts") throw new Error("This server does not estimate costs.");
  return found;
}

const PLAIN = new Intl.NumberFormat("en");

export const formatCount = (count: number): string => PLAIN.format(count);

/** The part of a limit as a percentage. */
export function formatShare(cost: number, limit: number): string {
  const percent = (100 * cost) / limit;
  if (percent === 0 || percent >= 10) return `${Math.round(percent)}%`;
  return percent < 0.01 ? "<0.01%" : `${Number(percent.toPrecision(2))}%`;
}

/** The path of a node as fields, such as spec.users[]. */
export function shortenPath(path: string): string {
  const text = path
    .replace(/properties\[([^\]]*)\]/g, "$1")
    .replace(/\.items/g, "[]")
    .replace(/\.additionalProperties/g, "{}");
  return text === "" ? "the object" : text;
}
