/** Values of Secrets, which no page shows before the user asks for them. */
import type { JsonObject } from "../api/types";
import { isObject } from "./merge";

const APPLIED = "kubectl.kubernetes.io/last-applied-configuration"; // has the values once more

export function isSecret(object: { apiVersion?: unknown; kind?: unknown }): boolean {
  return object.kind === "Secret" && object.apiVersion === "v1";
}

/** The bytes of a value as text, or their number if they are none. */
export function decodeValue(value: string): string {
  try {
    const bytes = Uint8Array.from(atob(value), (letter) => letter.charCodeAt(0));
    try {
      return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    } catch {
      return `${bytes.length} bytes that are no text`;
    }
  } catch {
    return value;
  }
}

/** Say how long a value is, with a short mark that changes with it, so that a difference shows a change. */
export function maskValue(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  let mark = 17;
  for (let at = 0; at < text.length; at++) mark = (mark * 31 + text.charCodeAt(at)) >>> 0;
  const bytes = Math.floor((text.replace(/=+$/, "").length * 3) / 4);
  return `hidden, ${bytes} bytes, #${(mark % 4096).toString(16).padStart(3, "0")}`;
}

/** An object without the values of a Secret. */
export function maskSecret(object: JsonObject): JsonObject {
  if (!isSecret(object)) return object;
  const masked: JsonObject = { ...object };
  for (const field of ["data", "stringData"]) {
    const values = object[field];
    if (isObject(values))
      masked[field] = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, maskValue(value)]));
  }
  const metadata = object["metadata"];
  const annotations = isObject(metadata) ? metadata["annotations"] : undefined;
  if (isObject(metadata) && isObject(annotations) && APPLIED in annotations)
    masked["metadata"] = { ...metadata, annotations: { ...annotations, [APPLIED]: maskValue(annotations[APPLIED]) } };
  return masked;
}
