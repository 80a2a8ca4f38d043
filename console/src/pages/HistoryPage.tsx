/** The history of a namespace: a slider over its moments, and the objects as they were. */
import { useMemo, useState } from "preact/hooks";
import { type Change, readChanges } from "../api/history";
import { DiffView } from "../ui/DiffView";
import { writeYaml } from "../editor/yaml";
import { formatTime } from "../logic/time";
import { route, setQuery } from "../state/route";
import { shownState } from "../object/HistoryTab";
import { NamespacePicker } from "../ui/NamespacePicker";
import { Badge, Button, Empty, Loading, Problem, useLoaded, useNow } from "../ui/parts";
import { ChangeLine } from "./RecentChanges";
import "../styles/object.css";
import "../styles/definitions.css";

const PAGE = 300;

function keyOf(change: Change): string {
  const { group, resource, namespace = "", name } = change.object;
  return `${group}/${resource}/${namespace}/${name}`;
}

/** The objects that were there after a change, of those that the log has: the last change of each that is not later. */
export function objectsAt(changes: Change[], at: number): Change[] {
  const found = new Map<string, Change>();
  for (const change of changes.slice(at)) if (!found.has(keyOf(change))) found.set(keyOf(change), change);
  return [...found.values()]
    .filter((change) => change.operation !== "delete")
    .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

export function HistoryPage() {
  const namespace = route.value.query["ns"] ?? "";
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState(0);
  const [limit, setLimit] = useState(PAGE);
  const found = useLoaded((signal) => readChanges({ namespace, limit, states: true }, signal), [namespace, limit]);
  const now = useNow(5000);
  const changes = useMemo(() => {
    const words = text.toLowerCase();
    return (found.value?.items ?? []).filter((one) =>
      `${one.object.kind} ${one.object.name} ${one.author.user} ${one.author.fieldManager} ${one.summary}`
        .toLowerCase()
        .includes(words),
    );
  }, [found.value, text]);
  const at = Math.min(chosen, Math.max(changes.length - 1, 0));
  const change = changes[at];
  const before =
    change === undefined
      ? undefined
      : (found.value?.items ?? []).find((one) => one.revision < change.revision && keyOf(one) === keyOf(change));
  const there = useMemo(() => objectsAt(changes, at), [changes, at]);
  return (
    <section class="page">
      <header class="page-head">
        <div class="titles">
          <h1>History</h1>
          <p class="dim">Who changed what, newest first</p>
        </div>
      </header>
      <div class="filters">
        <NamespacePicker value={namespace} onPick={(ns) => (setQuery({ ns }), setChosen(0))} />
        <label class="field search">
          <input
            type="search"
            placeholder="Kind, name, user or field"
            aria-label="Filter changes"
            value={text}
            onInput={(event) => (setText(event.currentTarget.value), setChosen(0))}
          />
        </label>
        <Button onClick={found.reload}>Read again</Button>
      </div>
      {found.error !== null && <Problem error={found.error} title="The log of changes cannot be read" />}
      {found.value === null && found.error === null && <Loading />}
      {found.value !== null && change === undefined && <Empty title="No changes" />}
      {change !== undefined && (
        <>
          <label class="slider">
            <span>
              {formatTime(change.time)}, revision {change.revision}: {there.length} of the objects that changed were
              there
            </span>
            <input
              type="range"
              min={0}
              max={changes.length - 1}
              value={changes.length - 1 - at}
              aria-label="Moment"
              onInput={(event) => setChosen(changes.length - 1 - Number(event.currentTarget.value))}
            />
          </label>
          <div class="story">
            <ul class="changes panel timeline-list">
              {changes.slice(at, at + 40).map((one) => (
                <ChangeLine key={one.metadata.name} change={one} now={now} />
              ))}
            </ul>
            <div>
              <h2 class="section-title first">
                {change.object.kind} {change.object.name}
              </h2>
              <DiffView before={before === undefined ? "" : textOf(before)} after={textOf(change)} />
              <h2 class="section-title">There at this moment</h2>
              <ul class="there">
                {there.slice(0, 200).map((one) => (
                  <li key={keyOf(one)}>
                    <Badge>{one.object.kind}</Badge> {one.object.namespace ? `${one.object.namespace}/` : ""}
                    {one.object.name}
                  </li>
                ))}
              </ul>
            </div>
          </div>
          {found.value?.metadata.continue && <Button onClick={() => setLimit(limit + PAGE)}>Read further back</Button>}
        </>
      )}
    </section>
  );
}

function textOf(change: Change): string {
  const state = shownState(change);
  return state === null ? "" : writeYaml(state);
}
