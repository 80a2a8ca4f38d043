/** Prometheus' text format, and what the plots show of it. */
export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

export function parseMetrics(text: string): Sample[] {
  const found: Sample[] = [];
  for (const line of text.split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    const parts = LINE.exec(line);
    if (parts === null) continue;
    const labels: Record<string, string> = {};
    for (const [, name = "", value = ""] of (parts[2] ?? "").matchAll(LABEL))
      labels[name] = value.replace(/\\(.)/g, "$1");
    found.push({ name: parts[1] ?? "", labels, value: Number(parts[3]) });
  }
  return found;
}

export function sum(
  samples: Sample[],
  name: string,
  fits: (labels: Record<string, string>) => boolean = () => true,
): number {
  return samples.reduce((total, one) => (one.name === name && fits(one.labels) ? total + one.value : total), 0);
}

/** The time below which a share of the requests between two looks was answered, in seconds; NaN without requests. */
export function quantile(
  before: Sample[],
  after: Sample[],
  name: string,
  share: number,
  fits: (labels: Record<string, string>) => boolean,
): number {
  const counts = new Map<number, number>();
  const add = (samples: Sample[], sign: number): void => {
    for (const one of samples) {
      if (one.name !== `${name}_bucket` || !fits(one.labels)) continue;
      const bound = one.labels["le"] === "+Inf" ? Infinity : Number(one.labels["le"]);
      counts.set(bound, (counts.get(bound) ?? 0) + sign * one.value);
    }
  };
  add(after, 1);
  add(before, -1);
  const bounds = [...counts.keys()].sort((a, b) => a - b);
  const total = counts.get(Infinity) ?? 0;
  if (total <= 0) return NaN;
  let low = 0;
  let below = 0;
  for (const bound of bounds) {
    const count = counts.get(bound) ?? 0;
    if (count >= share * total)
      return bound === Infinity ? low : low + (bound - low) * ((share * total - below) / Math.max(count - below, 1e-9));
    low = bound;
    below = count;
  }
  return low;
}

export interface Reading {
  at: number;
  samples: Sample[];
}

export interface Line {
  title: string;
  unit: "per second" | "ms" | "MB" | "" | "%";
  value: (before: Reading, after: Reading) => number;
}

const TOTAL = "apiserver_request_total";
const DURATION = "apiserver_request_duration_seconds";
const rate = (before: Reading, after: Reading, read: (samples: Sample[]) => number): number =>
  Math.max(read(after.samples) - read(before.samples), 0) / Math.max((after.at - before.at) / 1000, 0.001);
const noWatch = (labels: Record<string, string>): boolean => labels["verb"] !== "WATCH";

export const LINES: Line[] = [
  {
    title: "Requests",
    unit: "per second",
    value: (before, after) => rate(before, after, (samples) => sum(samples, TOTAL)),
  },
  {
    title: "Rejected requests",
    unit: "per second",
    value: (before, after) =>
      rate(before, after, (samples) => sum(samples, TOTAL, (labels) => (labels["code"] ?? "0") >= "400")),
  },
  {
    title: "Latency, 99 of 100",
    unit: "ms",
    value: (before, after) => quantile(before.samples, after.samples, DURATION, 0.99, noWatch) * 1000,
  },
  {
    title: "Watchers",
    unit: "",
    value: (_, after) => sum(after.samples, "apiserver_longrunning_requests", (labels) => labels["verb"] === "WATCH"),
  },
  {
    title: "Writes",
    unit: "per second",
    value: (before, after) => rate(before, after, (samples) => sum(samples, "podless_revision")),
  },
  { title: "Memory", unit: "MB", value: (_, after) => sum(after.samples, "process_resident_memory_bytes") / 1e6 },
  {
    title: "Processor",
    unit: "%",
    value: (before, after) => 100 * rate(before, after, (samples) => sum(samples, "process_cpu_seconds_total")),
  },
  { title: "Store", unit: "MB", value: (_, after) => sum(after.samples, "apiserver_storage_size_bytes") / 1e6 },
  { title: "Held for clients", unit: "MB", value: (_, after) => sum(after.samples, "podless_held_bytes") / 1e6 },
];

export interface RequestRow {
  key: string;
  what: string;
  code: string;
  count: number;
}

/** The requests between two looks, by verb, resource and code: the busiest first. */
export function countRequests(before: Sample[], after: Sample[]): RequestRow[] {
  const counts = new Map<string, RequestRow>();
  const add = (samples: Sample[], sign: number): void => {
    for (const one of samples) {
      if (one.name !== TOTAL) continue;
      const { verb = "", group = "", resource = "", subresource = "", code = "" } = one.labels;
      const what = `${verb} ${resource || "other"}${subresource ? `/${subresource}` : ""}${group ? `.${group}` : ""}`;
      const key = `${what} ${code}`;
      const row = counts.get(key) ?? { key, what, code, count: 0 };
      row.count += sign * one.value;
      counts.set(key, row);
    }
  };
  add(after, 1);
  add(before, -1);
  return [...counts.values()]
    .filter((row) => row.count > 0)
    .sort((a, b) => b.count - a.count || (a.key < b.key ? -1 : 1));
}

/** The checks of /readyz?verbose. */
export function parseChecks(text: string): { name: string; good: boolean }[] {
  return [...text.matchAll(/^\[([+-])\](\S+)/gm)].map((one) => ({ name: one[2] ?? "", good: one[1] === "+" }));
}
