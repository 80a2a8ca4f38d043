/** The story of one object: each change with its difference, blame, and undo. */
import { useMemo, useState } from "preact/hooks";
import { type Kind, pathOf } from "../api/discovery";
import { type Change, readChanges } from "../api/history";
import { ask } from "../api/http";
import type { ApiObject, Json, JsonObject } from "../api/types";
import { sendObject } from "../editor/check";
import { writeYaml } from "../editor/yaml";
import { blameLines } from "../logic/blame";
import { formatAge, formatTime } from "../logic/time";
import { authorOf, OperationBadge } from "../pages/RecentChanges";
import { DiffView } from "../ui/DiffView";
import { Lines } from "../ui/Lines";
import { maskSecret } from "../logic/secret";
import { hueOf } from "../ui/Icon";
import { Button, Empty, Loading, Problem, useLoaded, useNow } from "../ui/parts";
import { tell } from "../ui/toasts";
import { editedPart } from "./draft";
import { withoutManagedFields } from "./ManagersTab";

/** A state as a person compares it: without fields that change with each write. */
export function shownState(change: Change | undefined): JsonObject | null {
  if (change?.state === undefined || change.operation === "delete") return null;
  const shown = withoutManagedFields(change.state);
  const { resourceVersion: _r, generation: _g, uid: _u, ...metadata } = shown["metadata"] as JsonObject;
  return maskSecret({ ...shown, metadata });
}

const write = (state: JsonObject | null): string => (state === null ? "" : writeYaml(state));

interface Props {
  kind: Kind;
  namespace: string;
  name: string;
  object: ApiObject | null;
}

export function HistoryTab({ kind, namespace, name, object }: Props) {
  const wanted = {
    namespace: kind.namespaced ? namespace : "",
    group: kind.group,
    resource: kind.resource,
    name,
    limit: 200,
    states: true,
  };
  const version = object?.metadata.resourceVersion ?? "";
  const found = useLoaded((signal) => readChanges(wanted, signal), [kind, namespace, name, version]);
  const [chosen, setChosen] = useState(0);
  const [view, setView] = useState<"diff" | "state" | "blame">("diff");
  const now = useNow(5000);
  const changes = found.value?.items ?? [];
  const at = Math.min(chosen, changes.length - 1);
  const change = changes[at];
  const before = changes[at + 1];
  const lines = useMemo(
    () =>
      view === "blame"
        ? blameLines(
            changes
              .slice(at)
              .reverse()
              .map((one) => shownState(one))
              .filter((state): state is JsonObject => state !== null),
          )
        : [],
    [found.value, at, view],
  );
  const blamed = useMemo(
    () =>
      changes
        .slice(at)
        .reverse()
        .filter((one) => shownState(one) !== null),
    [found.value, at],
  );
  if (found.error !== null) return <Problem error={found.error} title="The history cannot be read" />;
  if (found.value === null) return <Loading what="Reading the history" />;
  if (change === undefined) return <Empty title="No changes are recorded" />;

  const goBack = async (): Promise<void> => {
    try {
      const state = change.state as unknown as ApiObject;
      const value: Json = editedPart(state, kind.subresources.includes("status"));
      await sendObject({ kind, namespace, base: object }, value, false);
      tell(`${name} is again as of ${formatTime(change.time)}`);
      setChosen(0);
    } catch (problem) {
      tell((problem as Error).message, "bad");
    }
  };
  const undo = async (): Promise<void> => {
    try {
      if (change.operation === "create") await ask(pathOf(kind, namespace, name), { method: "DELETE" });
      else if (before?.state !== undefined)
        await sendObject(
          { kind, namespace, base: object },
          editedPart(before.state as unknown as ApiObject, kind.subresources.includes("status")),
          false,
        );
      tell("The last change is undone");
      setChosen(0);
    } catch (problem) {
      tell((problem as Error).message, "bad");
    }
  };
  return (
    <div class="story">
      <ol class="timeline" aria-label="Changes, newest first">
        {changes.map((one, index) => (
          <li key={one.metadata.name}>
            <button type="button" class="moment" aria-pressed={index === at} onClick={() => setChosen(index)}>
              <span class="moment-head">
                <OperationBadge operation={one.operation} />
                <time dateTime={one.time} title={formatTime(one.time)}>
                  {formatAge(one.time, now)}
                </time>
              </span>
              <strong>{authorOf(one)}</strong>
              <small>
                {[one.author.verb, one.author.subresource, one.author.fieldManager].filter(Boolean).join(" · ")}
              </small>
              {one.summary !== undefined && one.summary !== "" && <code>{one.summary}</code>}
            </button>
          </li>
        ))}
      </ol>
      <div class="story-view">
        <label class="slider">
          <span>
            Revision {change.revision}, {formatTime(change.time)}
          </span>
          <input
            type="range"
            min={0}
            max={Math.max(changes.length - 1, 0)}
            value={changes.length - 1 - at}
            aria-label="Moment"
            onInput={(event) => setChosen(changes.length - 1 - Number(event.currentTarget.value))}
          />
        </label>
        <div class="story-actions">
          <Button pressed={view === "diff"} onClick={() => setView("diff")}>
            Difference
          </Button>
          <Button pressed={view === "state"} onClick={() => setView("state")}>
            State
          </Button>
          <Button pressed={view === "blame"} onClick={() => setView("blame")}>
            Blame
          </Button>
          <span class="spacer" />
          {at === 0 && change.operation === "update" && object !== null && (
            <Button icon="undo" onClick={() => void undo()}>
              Undo this change
            </Button>
          )}
          {at > 0 && change.operation !== "delete" && (
            <Button icon="undo" onClick={() => void goBack()}>
              {object === null ? "Create it again like this" : "Go back to this"}
            </Button>
          )}
        </div>
        {view === "diff" &&
          (change.operation === "delete" ? (
            <DiffView before={write(shownState({ ...change, operation: "update" }))} after="" />
          ) : (
            <DiffView before={write(shownState(before))} after={write(shownState(change))} />
          ))}
        {view === "state" && (
          <pre class="code panel" tabIndex={0}>
            {write(shownState(change)) || "Deleted"}
          </pre>
        )}
        {view === "blame" && (
          <Lines
            label="Object, with the change that set each line"
            kind="owned"
            lines={lines}
            line={(line, index) => {
              const one = blamed[line.mark];
              const begins = line.mark !== lines[index - 1]?.mark;
              return (
                <li
                  key={index}
                  class={begins ? "has-owner begins" : "has-owner"}
                  style={{ "--hue": String(hueOf(one?.metadata.name ?? "")) }}
                >
                  <code>{line.text}</code>
                  {one !== undefined && (
                    <small title={formatTime(one.time)}>
                      {authorOf(one)} · {formatAge(one.time, now)}
                    </small>
                  )}
                </li>
              );
            }}
          />
        )}
      </div>
    </div>
  );
}
