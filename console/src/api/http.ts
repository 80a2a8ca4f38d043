/** Requests to the API with the user's credentials. */
import { signal } from "@preact/signals";
import { recordRefusal } from "../state/refusals";
import { replaceToken, token, untilLoggedIn } from "../state/session";
import type { Status, WatchEvent } from "./types";

export class ApiError extends Error {
  constructor(
    readonly code: number,
    readonly status: Status,
  ) {
    super(status.message ?? `HTTP ${code}`);
  }
  get reason(): string {
    return this.status.reason ?? "";
  }
}

export interface Options {
  method?: string;
  body?: unknown;
  accept?: string;
  contentType?: string;
  signal?: AbortSignal;
  /** Errors that the caller expects, such as those of a probe, are no refusals to show. */
  quiet?: boolean;
}

export interface Answer<T> {
  body: T;
  warnings: string[];
  etag: string;
}

/** Whether the last request reached the server. */
export const reachable = signal(true);

function readWarnings(header: string | null): string[] {
  return [...(header ?? "").matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g)].map((one) =>
    (one[1] ?? "").replace(/\\(.)/g, "$1"),
  );
}

/** Send a request. If the server no longer accepts the token, it is sent once more with another one. */
async function send(path: string, options: Options): Promise<Response> {
  await untilLoggedIn();
  const used = token.value;
  const answer = await sendOnce(path, options);
  if (answer.status !== 401) return answer;
  await replaceToken(used);
  return sendOnce(path, options);
}

async function sendOnce(path: string, options: Options): Promise<Response> {
  const headers: Record<string, string> = { Accept: options.accept ?? "application/json" };
  if (token.value) headers["Authorization"] = `Bearer ${token.value}`;
  if (options.body !== undefined) headers["Content-Type"] = options.contentType ?? "application/json";
  const body =
    options.body === undefined
      ? undefined
      : typeof options.body === "string"
        ? options.body
        : JSON.stringify(options.body);
  let answer: Response;
  try {
    answer = await fetch(path, {
      method: options.method ?? "GET",
      headers,
      body,
      signal: options.signal,
      cache: "no-cache",
      credentials: "same-origin",
      redirect: "error",
    });
  } catch (error) {
    if (!options.signal?.aborted) reachable.value = false;
    throw error;
  }
  reachable.value = true;
  return answer;
}

async function fail(answer: Response, path: string, options: Options): Promise<never> {
  const text = await answer.text();
  let status: Status = { kind: "Status", code: answer.status, message: text.trim() || answer.statusText };
  try {
    const told = JSON.parse(text) as Status;
    if (told.kind === "Status") status = told;
  } catch {
    // a text is the message
  }
  if (!options.quiet && answer.status !== 404) {
    const dryRun = path.includes("dryRun=All");
    recordRefusal({
      at: Date.now(),
      method: options.method ?? "GET",
      path,
      code: answer.status,
      reason: status.reason ?? "",
      message: status.message ?? "",
      dryRun,
    });
  }
  throw new ApiError(answer.status, status);
}

export async function ask<T>(path: string, options: Options = {}): Promise<Answer<T>> {
  const answer = await send(path, options);
  if (!answer.ok) return fail(answer, path, options);
  return {
    body: (await answer.json()) as T,
    warnings: readWarnings(answer.headers.get("Warning")),
    etag: answer.headers.get("ETag") ?? "",
  };
}

export async function get<T>(path: string, options: Options = {}): Promise<T> {
  return (await ask<T>(path, options)).body;
}

export async function getText(path: string, options: Options = {}): Promise<string> {
  const answer = await send(path, { accept: "*/*", ...options });
  if (!answer.ok && answer.status !== 500) return fail(answer, path, options);
  return answer.text();
}

/** Read a stream of lines of JSON. Ends when the server ends it; throws when the connection is lost. */
export async function* readLines<T>(body: ReadableStream<Uint8Array>): AsyncGenerator<T[]> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      const events = lines.filter((line) => line !== "").map((line) => JSON.parse(line) as T);
      if (events.length > 0) yield events;
    }
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}

export async function* watch<T>(path: string, options: Options = {}): AsyncGenerator<WatchEvent<T>[]> {
  const answer = await send(path, options);
  if (!answer.ok || answer.body === null) return fail(answer, path, options);
  yield* readLines<WatchEvent<T>>(answer.body);
  return undefined;
}

/** Read an answer that is a stream of lines of JSON. */
export async function* followLines<T>(path: string, signal: AbortSignal): AsyncGenerator<T[]> {
  const options = { accept: "*/*", signal, quiet: true };
  const answer = await send(path, options);
  if (!answer.ok || answer.body === null) return fail(answer, path, options);
  yield* readLines<T>(answer.body);
  return undefined;
}

/** A query string without the parameters that are empty. */
export function makeQuery(given: Record<string, string | number | undefined>): string {
  const parts = Object.entries(given).filter(([, value]) => value !== undefined && value !== "");
  return parts.length === 0
    ? ""
    : "?" + parts.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join("&");
}
