/** What a person wants to know of an object first: its columns, conditions, labels, events. */
import { type Kind, pathOf } from "../api/discovery";
import { get, makeQuery } from "../api/http";
import { type ApiList, type ApiObject, AS_TABLE, type JsonObject, type Table } from "../api/types";
import { formatAge, formatTime } from "../logic/time";
import { toneOfCondition, type Tone } from "../logic/tone";
import { isAge } from "../table/rows";
import { Cell } from "../table/TableView";
import { Icon } from "../ui/Icon";
import { Badge, Empty, useLoaded, useNow } from "../ui/parts";
import { maskSecret } from "../logic/secret";
import { DataPanel, hasData } from "./DataPanel";
import type { TabProps } from "./ObjectPage";

interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
  observedGeneration?: number;
}

interface EventObject extends ApiObject {
  type?: string;
  reason?: string;
  message?: string;
  count?: number;
  lastTimestamp?: string;
  eventTime?: string;
  source?: { component?: string };
  reportingComponent?: string;
}

export function conditionsOf(object: ApiObject): Condition[] {
  const status = object["status"] as { conditions?: unknown } | undefined;
  const found = status?.conditions;
  return Array.isArray(found) ? (found as Condition[]).filter((one) => typeof one?.type === "string") : [];
}

const WORDS: Record<Tone, string> = { good: "good", bad: "bad", busy: "in progress", none: "" };

export function OverviewTab({ kind, object }: TabProps) {
  const { metadata } = object;
  const now = useNow();
  const table = useLoaded(
    (signal) => get<Table>(pathOf(kind, metadata.namespace, metadata.name), { accept: AS_TABLE, signal, quiet: true }),
    [metadata.resourceVersion],
  );
  const masked = maskSecret(object as JsonObject);
  const conditions = conditionsOf(object);
  const observed = (object["status"] as { observedGeneration?: number } | undefined)?.observedGeneration;
  const behind = observed !== undefined && metadata.generation !== undefined && observed < metadata.generation;
  const columns = table.value?.columnDefinitions ?? [];
  const cells = table.value?.rows?.[0]?.cells ?? [];
  return (
    <div class="overview">
      <div class="overview-main">
        {columns.length > 0 && (
          <dl class="facts panel">
            {columns.map((column, index) =>
              index === 0 || isAge(column) ? null : (
                <div key={column.name}>
                  <dt title={column.description}>{column.name}</dt>
                  <dd>
                    <Cell column={column} cell={cells[index] ?? null} />
                  </dd>
                </div>
              ),
            )}
          </dl>
        )}
        {behind && (
          <p class="note">
            The controller has seen generation {observed} of {metadata.generation}: the status is about an earlier spec.
          </p>
        )}
        {hasData(object) && <DataPanel object={object} />}
        <h2 class="section-title">Conditions</h2>
        {conditions.length === 0 ? (
          <p class="dim">The status has no conditions.</p>
        ) : (
          <ul class="conditions panel">
            {conditions.map((one) => {
              const tone = toneOfCondition(one.type, one.status);
              return (
                <li key={one.type} class={`condition ${tone}`}>
                  <span class="condition-sign">
                    <Icon name={tone === "good" ? "check" : tone === "bad" ? "alert" : "history"} size={16} />
                    <span class="visually-hidden">{WORDS[tone]}</span>
                  </span>
                  <div>
                    <strong>{one.type}</strong>{" "}
                    <span class="dim">{one.status === "True" ? "" : `is ${one.status}`}</span>{" "}
                    {one.reason !== undefined && one.reason !== "" && <Badge tone={tone}>{one.reason}</Badge>}
                    {one.message !== undefined && one.message !== "" && <p>{one.message}</p>}
                  </div>
                  {one.lastTransitionTime !== undefined && (
                    <time class="dim" dateTime={one.lastTransitionTime} title={formatTime(one.lastTransitionTime)}>
                      {formatAge(one.lastTransitionTime, now)}
                    </time>
                  )}
                </li>
              );
            })}
          </ul>
        )}
        <Events kind={kind} object={object} />
      </div>
      <aside class="overview-side">
        <Pairs title="Labels" pairs={metadata.labels} />
        <Pairs
          title="Annotations"
          pairs={(masked["metadata"] as { annotations?: Record<string, string> }).annotations}
        />
        <h3>Identity</h3>
        <dl class="pairs">
          <div>
            <dt>uid</dt>
            <dd>{metadata.uid}</dd>
          </div>
          <div>
            <dt>resourceVersion</dt>
            <dd>{metadata.resourceVersion}</dd>
          </div>
          {(metadata.finalizers ?? []).map((one) => (
            <div key={one}>
              <dt>finalizer</dt>
              <dd>{one}</dd>
            </div>
          ))}
        </dl>
      </aside>
    </div>
  );
}

function Pairs({ title, pairs }: { title: string; pairs?: Record<string, string> }) {
  const entries = Object.entries(pairs ?? {});
  return (
    <>
      <h3>{title}</h3>
      {entries.length === 0 ? (
        <p class="dim">None</p>
      ) : (
        <dl class="pairs">
          {entries.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value.length > 300 ? `${value.slice(0, 300)}…` : value}</dd>
            </div>
          ))}
        </dl>
      )}
    </>
  );
}

function Events({ kind, object }: { kind: Kind; object: ApiObject }) {
  const { metadata } = object;
  const now = useNow();
  const namespace = metadata.namespace ?? "default";
  const fieldSelector = `involvedObject.name=${metadata.name},involvedObject.kind=${kind.kind}`;
  const found = useLoaded(
    (signal) =>
      get<ApiList<EventObject>>(`/api/v1/namespaces/${namespace}/events${makeQuery({ fieldSelector, limit: 100 })}`, {
        signal,
        quiet: true,
      }),
    [metadata.resourceVersion],
  );
  const timeOf = (event: EventObject): string =>
    event.lastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp ?? "";
  const events = [...(found.value?.items ?? [])].sort((a, b) => (timeOf(a) < timeOf(b) ? 1 : -1));
  return (
    <>
      <h2 class="section-title">Events</h2>
      {found.error !== null ? (
        <p class="dim">{found.error.message}</p>
      ) : events.length === 0 ? (
        <Empty title="No events" />
      ) : (
        <ul class="conditions panel">
          {events.map((event) => (
            <li key={event.metadata.name} class={`condition ${event.type === "Warning" ? "bad" : "none"}`}>
              <span class="condition-sign">
                <Icon name={event.type === "Warning" ? "alert" : "pulse"} size={16} />
                <span class="visually-hidden">{event.type}</span>
              </span>
              <div>
                <strong>{event.reason}</strong>{" "}
                <span class="dim">{event.source?.component || event.reportingComponent}</span>
                {(event.count ?? 1) > 1 && <span class="dim"> × {event.count}</span>}
                <p>{event.message}</p>
              </div>
              <time class="dim" dateTime={timeOf(event)} title={formatTime(timeOf(event))}>
                {formatAge(timeOf(event), now)}
              </time>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
