/** The live table of one kind. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { apiVersionOf, findKind, type Kind, kinds, loadKinds } from "../api/discovery";
import type { Liveness } from "../api/follow";
import { ApiError } from "../api/http";
import { go, kindOfRoute, newHash, objectHash, route, setQuery } from "../state/route";
import { arrange, type View } from "../table/rows";
import { useLiveTable } from "../table/live";
import { TableView } from "../table/TableView";
import { Icon, KindSign } from "../ui/Icon";
import { NamespacePicker } from "../ui/NamespacePicker";
import { Button, Empty, Loading, Problem } from "../ui/parts";

export function ListPage() {
  const [group, version, resource] = kindOfRoute(route.value.parts);
  const kind = findKind(group, version, resource);
  if (kind === undefined) return kinds.value.length === 0 ? <Loading /> : <Missing group={group} resource={resource} />;
  return <KindTable key={`${kind.group}/${kind.version}/${kind.resource}`} kind={kind} />;
}

export function Missing({ group, resource }: { group: string; resource: string }) {
  return (
    <section class="page">
      <Empty title={`The server does not serve ${resource}${group === "" ? "" : `.${group}`}`}>
        Its definition may be gone. <Button onClick={() => void loadKinds()}>Look again</Button>
      </Empty>
    </section>
  );
}

const LIVE: Record<Liveness, string> = {
  loading: "Loading",
  live: "Live",
  paused: "Paused",
  reconnecting: "Reconnecting",
  failed: "Stopped",
};

export function LiveSign({ state }: { state: Liveness }) {
  return (
    <span class={`live ${state}`} role="status">
      <span class="dot" aria-hidden="true" />
      {LIVE[state]}
    </span>
  );
}

function KindTable({ kind }: { kind: Kind }) {
  const query = route.value.query;
  const namespace = kind.namespaced ? (query["ns"] ?? "") : "";
  const labels = query["labels"] ?? "";
  const fields = query["fields"] ?? "";
  const [text, setText] = useState(query["text"] ?? "");
  const [sort, setSort] = useState({ column: -1, descending: false });
  const [wide, setWide] = useState(false);
  const live = useLiveTable(kind, { namespace, labels, fields });
  const filter = useRef<HTMLInputElement>(null);
  const view: View = { text, sort: sort.column, descending: sort.descending };
  const rows = useMemo(() => arrange(live.table, view), [live.generation, live.table, text, sort]);
  const withNamespace = kind.namespaced && namespace === "";
  const columns = live.table.columns
    .map((column, index) => ({ column, index }))
    .filter(({ column }) => wide || column.priority === 0);

  const missing = live.error instanceof ApiError && live.error.code === 404;
  useEffect(() => {
    if (missing) void loadKinds(); // the definition may be gone
  }, [missing]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === "/" && !(event.target instanceof HTMLInputElement) && !event.ctrlKey) {
        event.preventDefault();
        filter.current?.focus();
      }
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);

  const pick = (column: number): void =>
    setSort((before) =>
      before.column !== column
        ? { column, descending: false }
        : before.descending
          ? { column: -1, descending: false }
          : { column, descending: true },
    );
  const partial = live.table.next !== "" && (text !== "" || sort.column >= 0);

  return (
    <section class="page list-page">
      <header class="page-head">
        <KindSign kind={kind.kind} group={kind.group} large />
        <div class="titles">
          <h1>{kind.kind}</h1>
          <p class="dim">{apiVersionOf(kind)}</p>
        </div>
        <LiveSign state={live.state} />
        <span class="spacer" />
        {kind.verbs.includes("create") && (
          <Button kind="primary" icon="plus" onClick={() => go(newHash(kind, namespace))}>
            Create
          </Button>
        )}
      </header>
      <div class="filters">
        {kind.namespaced && <NamespacePicker value={namespace} onPick={(ns) => setQuery({ ns })} />}
        <label class="field search">
          <Icon name="search" size={16} />
          <input
            ref={filter}
            type="search"
            placeholder="Filter rows"
            aria-label="Filter rows"
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
            onBlur={() => setQuery({ text })}
          />
          <kbd>/</kbd>
        </label>
        <Selector
          label="Labels"
          value={labels}
          placeholder="app=web,tier!=db"
          onChange={(value) => setQuery({ labels: value })}
        />
        <Selector
          label="Fields"
          value={fields}
          placeholder="metadata.name=one"
          onChange={(value) => setQuery({ fields: value })}
        />
        <Button icon="eye" pressed={wide} onClick={() => setWide(!wide)}>
          Wide
        </Button>
      </div>
      {live.error !== null && live.state === "failed" && <Problem error={live.error} />}
      {partial && (
        <p class="note" role="status">
          Among the first {live.table.rows.size} of {live.table.total}.{" "}
          <Button onClick={() => void live.loadAll()}>Load all</Button>
        </p>
      )}
      {live.state === "loading" && live.table.rows.size === 0 ? (
        <Loading what={`Loading ${kind.resource}`} />
      ) : rows.length === 0 && live.error === null ? (
        <Empty title={text !== "" || labels !== "" || fields !== "" ? "Nothing matches" : `No ${kind.resource} here`}>
          {text === "" && kind.verbs.includes("create")
            ? "Create the first one, or choose another namespace."
            : "Change the filters to see more."}
        </Empty>
      ) : (
        <TableView
          label={`${kind.kind} objects`}
          columns={columns}
          rows={rows}
          view={view}
          withNamespace={withNamespace}
          total={live.table.total}
          onSort={pick}
          onOpen={(row) => go(objectHash(kind, row.namespace, row.name))}
          hrefOf={(row) => objectHash(kind, row.namespace, row.name)}
          onEnd={() => void live.loadMore()}
        />
      )}
      <footer class="table-foot dim" aria-live="polite">
        {rows.length === live.table.total
          ? countObjects(rows.length)
          : `${rows.length} shown of ${countObjects(live.table.total)}`}
        {live.loadingMore && " · loading more"}
        {live.moreError !== null && (
          <>
            {` · The next page could not be read: ${live.moreError.message} `}
            <Button onClick={() => void live.loadMore()}>Try again</Button>
          </>
        )}
      </footer>
    </section>
  );
}

const countObjects = (count: number): string => (count === 1 ? "1 object" : `${count} objects`);

function Selector({
  label,
  value,
  placeholder,
  onChange,
}: {
  label: string;
  value: string;
  placeholder: string;
  onChange: (value: string) => void;
}) {
  return (
    <form class="field selector" onSubmit={(event) => event.preventDefault()}>
      <label>
        <span>{label}</span>
        <input
          value={value}
          placeholder={placeholder}
          spellcheck={false}
          onChange={(event) => onChange(event.currentTarget.value.trim())}
        />
      </label>
    </form>
  );
}
