/** A form for an object: its own verdict at once, the server's (rules, policies, webhooks) after a pause. */
import { useEffect, useMemo, useState } from "preact/hooks";
import { ApiError } from "../api/http";
import type { Json } from "../api/types";
import { complaintsOf, sendObject, type Target } from "../editor/check";
import { type Complaint, formatFieldPath, type Step } from "../logic/fieldpath";
import { isObject } from "../logic/merge";
import type { Shape } from "../schema/shape";
import { Icon } from "../ui/Icon";
import { Field } from "./Fields";
import { setAt } from "./model";
import { validateObject } from "./validate";

const PAUSE = 400; // milliseconds
const OWN = new Set(["apiVersion", "kind", "metadata"]);

interface Props {
  target: Target;
  shape: Shape;
  value: Json;
  onChange: (value: Json) => void;
}

export function ObjectForm({ target, shape, value, onChange }: Props) {
  const [server, setServer] = useState<Complaint[] | null>(null);
  const own = isObject(value) ? value : {};
  const metadata = isObject(own["metadata"]) ? own["metadata"] : {};
  const names = shape.names.filter(
    (name) => !OWN.has(name) && !(name === "status" && target.kind.subresources.includes("status")),
  );
  const local = useMemo(() => validateObject(shape, own, target.kind.subresources.includes("status")), [value]);
  const said = JSON.stringify(local);
  useEffect(() => {
    setServer(null);
    if (local.length > 0) return undefined;
    const controller = new AbortController();
    const timer = setTimeout(() => {
      sendObject(target, value, true, controller.signal).then(
        () => setServer([]),
        (error: unknown) =>
          !controller.signal.aborted && setServer(error instanceof ApiError ? complaintsOf(error) : []),
      );
    }, PAUSE);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [value, said, target.base?.metadata.resourceVersion]);
  const complaints = local.length > 0 ? local : (server ?? []);
  const change = (path: Step[], given: Json | undefined): void => onChange(setAt(value, path, given));
  const shown = new Set<string>(names);
  const general = complaints.filter((one) => one.path.length === 0 || !shown.has(String(one.path[0])));
  return (
    <form class="object-form panel" onSubmit={(event) => event.preventDefault()} noValidate>
      {target.base === null && (
        <div class="form-head">
          <label class="stacked">
            <span>name</span>
            <input
              value={typeof metadata["name"] === "string" ? metadata["name"] : ""}
              onInput={(event) => change(["metadata", "name"], event.currentTarget.value)}
            />
          </label>
          {target.kind.namespaced && (
            <label class="stacked">
              <span>namespace</span>
              <input
                value={typeof metadata["namespace"] === "string" ? metadata["namespace"] : ""}
                onInput={(event) => change(["metadata", "namespace"], event.currentTarget.value)}
              />
            </label>
          )}
        </div>
      )}
      {names.map((name) => (
        <Field
          key={name}
          name={name}
          shape={shape.property(name) as Shape}
          value={own[name]}
          path={[name]}
          required={name === "spec" || (shape.schema.required?.includes(name) ?? false)}
          complaints={complaints}
          onChange={change}
        />
      ))}
      {general.map((one) => (
        <p key={one.message} class="complaint" role="alert">
          {one.path.length > 0 && <code>{formatFieldPath(one.path)} </code>}
          {one.message}
        </p>
      ))}
      <p class="verdict" role="status">
        {complaints.length > 0 ? (
          <span class="verdict-bad">
            <Icon name="alert" size={15} /> {complaints.length === 1 ? "One problem" : `${complaints.length} problems`}
          </span>
        ) : server === null ? (
          <span class="dim">Asking the server…</span>
        ) : (
          <span class="verdict-good">
            <Icon name="check" size={15} /> The server would accept this
          </span>
        )}
      </p>
    </form>
  );
}
