/** The page that is shown, kept in the fragment of the URL, so that a link or a reload leads back to it. */
import { effect, signal } from "@preact/signals";
import type { Kind } from "../api/discovery";

export interface Route {
  page: string;
  parts: string[];
  query: Record<string, string>;
}

/** Decode a part of the address; one that is malformed stays as it is. */
function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function parseRoute(hash: string): Route {
  const [path = "", search = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const parts = path.split("/").map(decodePart);
  return { page: parts[0] ?? "", parts: parts.slice(1), query: Object.fromEntries(new URLSearchParams(search)) };
}

export function makeHash(page: string, parts: string[] = [], query: Record<string, string | undefined> = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined && value !== "") search.set(name, value);
  const text = search.toString();
  return `#/${[page, ...parts].map(encodeURIComponent).join("/")}${text === "" ? "" : `?${text}`}`;
}

export const route = signal<Route>(parseRoute(location.hash));
window.addEventListener("hashchange", () => (route.value = parseRoute(location.hash)));

const TITLES: Record<string, string> = {
  definitions: "Definitions",
  history: "History",
  access: "Access",
  server: "Server",
};

/** The title of the window for a page: what it shows comes first. */
export function titleOf({ page, parts }: Route): string {
  const [, , resource = "", name = ""] = parts;
  const shown =
    page === "object"
      ? [name, resource]
      : page === "list"
        ? [resource]
        : page === "new"
          ? ["New", resource]
          : [TITLES[page] ?? "Overview", page === "definitions" ? (parts[0] ?? "") : ""];
  return [...shown.filter((one) => one !== ""), "podless"].join(" · ");
}

effect(() => {
  document.title = titleOf(route.value);
});

export function go(hash: string): void {
  location.hash = hash;
}

/** Show another page in the place of this one, without an entry in the browser's history. */
export function replaceRoute(hash: string): void {
  history.replaceState(null, "", hash);
  route.value = parseRoute(hash);
}

/** Change the query of the page without a new entry in the browser's history. */
export function setQuery(change: Record<string, string | undefined>): void {
  const { page, parts, query } = route.value;
  history.replaceState(null, "", makeHash(page, parts, { ...query, ...change }));
  route.value = parseRoute(location.hash);
}

const CORE = "core"; // stands for the group without a name

export function listHash(kind: Kind, namespace = "", query: Record<string, string> = {}): string {
  return makeHash("list", [kind.group || CORE, kind.version, kind.resource], {
    ns: kind.namespaced ? namespace : "",
    ...query,
  });
}

export function objectHash(kind: Kind, namespace: string, name: string, tab = ""): string {
  return makeHash("object", [kind.group || CORE, kind.version, kind.resource, name], {
    ns: kind.namespaced ? namespace : "",
    tab,
  });
}

export function newHash(kind: Kind, namespace: string): string {
  return makeHash("new", [kind.group || CORE, kind.version, kind.resource], { ns: kind.namespaced ? namespace : "" });
}

export function kindOfRoute(parts: string[]): [string, string, string] {
  const [group = "", version = "", resource = ""] = parts;
  return [group === CORE ? "" : group, version, resource];
}
