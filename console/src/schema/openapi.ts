/** The schema of a kind, from the server's OpenAPI v3 documents. */
import { type Kind, rootOf } from "../api/discovery";
import { get } from "../api/http";
import { type Schema, Shape } from "./shape";

interface Document {
  components?: { schemas?: Record<string, Schema> };
}

const documents = new Map<string, Promise<Document>>();

async function readDocument(root: string): Promise<Document> {
  const index = await get<{ paths: Record<string, { serverRelativeURL: string }> }>("/openapi/v3");
  const place = index.paths[root.slice(1)]?.serverRelativeURL;
  if (place === undefined) return {};
  let known = documents.get(place);
  if (known === undefined) {
    known = get<Document>(place);
    known.catch(() => documents.delete(place));
    documents.set(place, known);
  }
  return known;
}

/** The shape of a kind; null where the server publishes none. */
export async function loadShape(kind: Kind): Promise<Shape | null> {
  const document = await readDocument(rootOf(kind));
  const all = document.components?.schemas ?? {};
  const found = Object.values(all).find(
    (schema) =>
      schema["x-kubernetes-group-version-kind"]?.some(
        (one) => one.group === kind.group && one.version === kind.version && one.kind === kind.kind,
      ) && schema.properties?.["metadata"] !== undefined,
  );
  return found === undefined ? null : new Shape(found, all);
}
