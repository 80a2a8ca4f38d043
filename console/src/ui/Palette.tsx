/** Go to a kind, or to an object of it: "ct web" finds CronTabs whose name has "web". */
import { useEffect, useMemo, useState } from "preact/hooks";
import { type Kind, kinds, pathOf } from "../api/discovery";
import { get, makeQuery } from "../api/http";
import { AS_METADATA, type ApiList } from "../api/types";
import { go, listHash, makeHash, objectHash } from "../state/route";
import { Icon, KindSign } from "./Icon";
import { Dialog } from "./parts";

interface Hit {
  title: string;
  note: string;
  hash: string;
  kind?: Kind;
}

const PAGES: Hit[] = ["Definitions", "History", "Access", "Server"].map((title) => ({
  title,
  note: "page",
  hash: makeHash(title.toLowerCase()),
}));
const MOST = 12;

/** How well a kind fits a word: the lower the better, -1 for not at all. */
export function rankKind(kind: Kind, word: string): number {
  const names = [...kind.shortNames, kind.singular, kind.resource, kind.kind.toLowerCase()];
  if (names.includes(word)) return 0;
  if (names.some((name) => name.startsWith(word))) return 1;
  return names.some((name) => name.includes(word)) || kind.group.includes(word) ? 2 : -1;
}

export function findHits(all: Kind[], text: string): Hit[] {
  const word = text.trim().toLowerCase().split(/\s+/)[0] ?? "";
  const pages = PAGES.filter((page) => page.title.toLowerCase().startsWith(word));
  const found = all
    .filter((kind) => kind.preferred && kind.verbs.includes("list"))
    .map((kind) => ({ kind, rank: rankKind(kind, word) }))
    .filter(({ rank }) => rank >= 0)
    .sort((a, b) => a.rank - b.rank || (a.kind.kind < b.kind.kind ? -1 : 1));
  return [
    ...found.map(({ kind }) => ({ title: kind.kind, note: kind.group || "core", hash: listHash(kind), kind })),
    ...pages,
  ].slice(0, MOST);
}

async function findObjects(kind: Kind, text: string): Promise<Hit[]> {
  const list = await get<ApiList>(pathOf(kind) + makeQuery({ limit: 500 }), { accept: AS_METADATA, quiet: true });
  const found = (list.items ?? []).filter((one) => one.metadata.name.includes(text)).slice(0, MOST);
  return found.map(({ metadata }) => ({
    title: metadata.name,
    note: `${kind.kind}${metadata.namespace ? ` in ${metadata.namespace}` : ""}`,
    hash: objectHash(kind, metadata.namespace ?? "", metadata.name),
    kind,
  }));
}

export function Palette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState(0);
  const [objects, setObjects] = useState<Hit[]>([]);
  const hits = useMemo(() => findHits(kinds.value, text), [text, kinds.value]);
  const second = text.trim().split(/\s+/)[1] ?? "";
  const kind = hits[0]?.kind;
  useEffect(() => {
    setObjects([]);
    if (second === "" || kind === undefined) return undefined;
    const timer = setTimeout(() => void findObjects(kind, second).then(setObjects, () => undefined), 150);
    return () => clearTimeout(timer);
  }, [second, kind?.resource, kind?.group]);
  const shown = second === "" ? hits : objects;
  const open = (hit: Hit | undefined): void => {
    if (hit === undefined) return;
    go(hit.hash);
    onClose();
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === "ArrowDown") setChosen(Math.min(chosen + 1, shown.length - 1));
    else if (event.key === "ArrowUp") setChosen(Math.max(chosen - 1, 0));
    else if (event.key === "Enter") open(shown[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Go to" onClose={onClose}>
      <label class="field search palette-field">
        <Icon name="search" size={17} />
        <input
          autoFocus
          role="combobox"
          aria-expanded="true"
          aria-controls="palette-hits"
          aria-activedescendant={shown[chosen] === undefined ? undefined : `hit-${chosen}`}
          aria-label="Kind, then a part of a name"
          placeholder="Kind, then a part of a name: cm settings"
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setChosen(0);
          }}
          onKeyDown={onKey}
        />
      </label>
      <ul id="palette-hits" class="hits" role="listbox" aria-label="Found">
        {shown.map((hit, index) => (
          <li
            key={hit.hash}
            id={`hit-${index}`}
            role="option"
            aria-selected={index === chosen}
            onClick={() => open(hit)}
          >
            {hit.kind === undefined ? (
              <Icon name="chevron" size={16} />
            ) : (
              <KindSign kind={hit.kind.kind} group={hit.kind.group} />
            )}
            <span>{hit.title}</span>
            <small>{hit.note}</small>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
