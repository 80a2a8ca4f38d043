/** The page of one object. */
import { useEffect, useState } from "preact/hooks";
import { apiVersionOf, findKind, type Kind, kinds } from "../api/discovery";
import type { ApiObject } from "../api/types";
import { formatAge, formatTime } from "../logic/time";
import { LiveSign, Missing } from "../pages/ListPage";
import { kindOfRoute, listHash, route, setQuery } from "../state/route";
import { KindSign } from "../ui/Icon";
import { Badge, Button, Empty, Loading, Problem, useNow } from "../ui/parts";
import { DeleteDialog } from "./DeleteDialog";
import { EditTab } from "./EditTab";
import { HistoryTab } from "./HistoryTab";
import { useLiveObject } from "./live";
import { ManagersTab } from "./ManagersTab";
import { OverviewTab } from "./OverviewTab";
import { RelationsTab } from "./RelationsTab";
import { ScaleDialog } from "./ScaleDialog";
import "../styles/object.css";

export function ObjectPage() {
  const { parts, query } = route.value;
  const [group, version, resource] = kindOfRoute(parts);
  const kind = findKind(group, version, resource);
  const name = parts[3] ?? "";
  if (kind === undefined) return kinds.value.length === 0 ? <Loading /> : <Missing group={group} resource={resource} />;
  const namespace = query["ns"] ?? "";
  return (
    <OneObject
      key={[kind.group, kind.version, kind.resource, namespace, name].join("/")}
      kind={kind}
      namespace={namespace}
      name={name}
    />
  );
}

export interface TabProps {
  kind: Kind;
  object: ApiObject;
  gone: boolean;
}

const TABS = [
  { id: "overview", title: "Overview" },
  { id: "yaml", title: "YAML" },
  { id: "form", title: "Form" },
  { id: "history", title: "History" },
  { id: "relations", title: "Relations" },
  { id: "managers", title: "Who set this" },
];

function OneObject({ kind, namespace, name }: { kind: Kind; namespace: string; name: string }) {
  const live = useLiveObject(kind, namespace, name);
  const [dialog, setDialog] = useState<"" | "delete" | "scale">("");
  const now = useNow();
  const tab = route.value.query["tab"] ?? "overview";
  const { object } = live;
  const metadata = object?.metadata;
  const showTab = (id: string): void => setQuery({ tab: id === "overview" ? "" : id });
  useEffect(() => document.getElementById(`tab-${tab}`)?.scrollIntoView({ block: "nearest", inline: "center" }), [tab]);
  const onTabKey = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    const at = TABS.findIndex((one) => one.id === tab);
    const next = TABS[(at + step + TABS.length) % TABS.length];
    if (next !== undefined) {
      showTab(next.id);
      document.getElementById(`tab-${next.id}`)?.focus();
    }
  };
  return (
    <section class="page object-page">
      <nav class="crumbs" aria-label="Way">
        <a href={listHash(kind, namespace)}>{kind.kind}</a>
        {namespace !== "" && <span>{namespace}</span>}
      </nav>
      <header class="page-head">
        <KindSign kind={kind.kind} group={kind.group} large />
        <div class="titles">
          <h1>{name}</h1>
          <p class="dim">
            {apiVersionOf(kind)} {kind.kind}
            {metadata?.creationTimestamp !== undefined && (
              <span title={formatTime(metadata.creationTimestamp)}>
                {" "}
                · {formatAge(metadata.creationTimestamp, now)} old
              </span>
            )}
            {metadata?.generation !== undefined && ` · generation ${metadata.generation}`}
          </p>
        </div>
        {live.gone ? (
          <Badge tone="bad">{object === null ? "not found" : "deleted"}</Badge>
        ) : (
          <LiveSign state={live.state} />
        )}
        {metadata?.deletionTimestamp !== undefined && !live.gone && <Badge tone="busy">deleting</Badge>}
        <span class="spacer" />
        {object !== null && !live.gone && (
          <>
            {kind.subresources.includes("scale") && (
              <Button icon="scale" onClick={() => setDialog("scale")}>
                Scale
              </Button>
            )}
            {kind.verbs.includes("delete") && (
              <Button icon="trash" kind="danger" onClick={() => setDialog("delete")}>
                Delete
              </Button>
            )}
          </>
        )}
      </header>
      {!(object === null && live.gone) && (
        <div class="tabs" role="tablist" aria-label="Parts of the object" onKeyDown={onTabKey}>
          {TABS.map((one) => (
            <button
              key={one.id}
              id={`tab-${one.id}`}
              type="button"
              role="tab"
              aria-selected={tab === one.id}
              aria-controls="tab-panel"
              tabIndex={tab === one.id ? 0 : -1}
              onClick={() => showTab(one.id)}
            >
              {one.title}
            </button>
          ))}
        </div>
      )}
      {live.error !== null && <Problem error={live.error} />}
      <div id="tab-panel" role="tabpanel" aria-labelledby={`tab-${tab}`}>
        {object === null ? (
          live.gone ? (
            <Empty title={`There is no ${kind.kind} ${name}`}>Its history may tell what happened.</Empty>
          ) : (
            live.error === null && <Loading />
          )
        ) : null}
        {object === null && live.gone && <HistoryTab kind={kind} namespace={namespace} name={name} object={null} />}
        {object !== null && (
          <>
            {tab === "overview" && <OverviewTab kind={kind} object={object} gone={live.gone} />}
            {(tab === "yaml" || tab === "form") && (
              <EditTab form={tab === "form"} kind={kind} object={object} gone={live.gone} />
            )}
            {tab === "history" && <HistoryTab kind={kind} namespace={namespace} name={name} object={object} />}
            {tab === "relations" && <RelationsTab kind={kind} object={object} gone={live.gone} />}
            {tab === "managers" && <ManagersTab kind={kind} object={object} gone={live.gone} />}
          </>
        )}
      </div>
      {dialog === "delete" && object !== null && (
        <DeleteDialog kind={kind} object={object} onClose={() => setDialog("")} />
      )}
      {dialog === "scale" && object !== null && (
        <ScaleDialog kind={kind} object={object} onClose={() => setDialog("")} />
      )}
    </section>
  );
}
