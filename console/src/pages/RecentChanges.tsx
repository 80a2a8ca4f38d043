/** The last changes of objects that the user may read. */
import { useEffect } from "preact/hooks";
import { findKind } from "../api/discovery";
import { type Change, readChanges } from "../api/history";
import { formatAge, formatTime } from "../logic/time";
import { objectHash } from "../state/route";
import { KindSign } from "../ui/Icon";
import { Badge, Empty, Loading, Problem, useLoaded, useNow } from "../ui/parts";

export function authorOf(change: Change): string {
  return change.author.user || change.author.fieldManager || "the server";
}

const TONES = { create: "good", update: "none", delete: "bad" } as const;

export function OperationBadge({ operation }: { operation: Change["operation"] }) {
  return <Badge tone={TONES[operation]}>{operation}</Badge>;
}

export function ChangeLine({ change, now }: { change: Change; now: number }) {
  const { object } = change;
  const kind = findKind(object.group, "", object.resource);
  const title = `${object.namespace ? `${object.namespace}/` : ""}${object.name}`;
  return (
    <li class="change">
      <KindSign kind={object.kind || object.resource} group={object.group} />
      <div class="change-text">
        <span>
          <strong>{object.kind || object.resource}</strong>{" "}
          {kind === undefined ? (
            title
          ) : (
            <a href={objectHash(kind, object.namespace ?? "", object.name, "history")}>{title}</a>
          )}{" "}
          <OperationBadge operation={change.operation} />
        </span>
        <small>
          {authorOf(change)}
          {change.summary !== undefined && change.summary !== "" && (
            <>
              {" · "}
              <code>{change.summary}</code>
            </>
          )}
        </small>
      </div>
      <time dateTime={change.time} title={formatTime(change.time)}>
        {formatAge(change.time, now)}
      </time>
    </li>
  );
}

const REFRESH = 10_000; // milliseconds

export function RecentChanges({ limit, namespace = "" }: { limit: number; namespace?: string }) {
  const changes = useLoaded((signal) => readChanges({ namespace, limit }, signal), [limit, namespace]);
  const now = useNow(5000);
  const reload = useNow(REFRESH);
  useEffect(() => {
    if (!document.hidden) changes.reload();
  }, [reload]);
  if (changes.error !== null) return <Problem error={changes.error} title="The log of changes cannot be read" />;
  if (changes.value === null) return <Loading />;
  if (changes.value.items.length === 0) return <Empty title="No changes yet" />;
  return (
    <ul class="changes panel">
      {changes.value.items.map((change) => (
        <ChangeLine key={change.metadata.name} change={change} now={now} />
      ))}
    </ul>
  );
}
