/** The object as a form. */
import { useEffect, useState } from "preact/hooks";
import type { ApiObject, Json } from "../api/types";
import { sendObject } from "../editor/check";
import { editedPart } from "../object/EditTab";
import type { TabProps } from "../object/ObjectPage";
import { isSame, mergeThree } from "../logic/merge";
import { loadShape } from "../schema/openapi";
import { Button, Empty, Loading, Problem, useLoaded } from "../ui/parts";
import { tell } from "../ui/toasts";
import { ObjectForm } from "./ObjectForm";

export function FormTab({ kind, object, gone }: TabProps) {
  const ownStatus = kind.subresources.includes("status");
  const shape = useLoaded(() => loadShape(kind), [kind]);
  const [base, setBase] = useState(object);
  const [value, setValue] = useState<Json>(() => editedPart(object, ownStatus));
  const [error, setError] = useState<Error | null>(null);
  const [overlap, setOverlap] = useState<string[]>([]);
  const dirty = !isSame(value, editedPart(base, ownStatus));
  const take = (next: ApiObject): void => {
    setBase(next);
    setValue(editedPart(next, ownStatus));
    setOverlap([]);
  };
  useEffect(() => {
    if (object.metadata.resourceVersion === base.metadata.resourceVersion) return;
    // what others change comes into the form beside what was changed here
    const merged = mergeThree(editedPart(base, ownStatus), value, editedPart(object, ownStatus));
    setBase(object);
    setValue(merged.value);
    if (merged.conflicts.length > 0) setOverlap(merged.conflicts);
  }, [object.metadata.resourceVersion]);
  const save = async (): Promise<void> => {
    setError(null);
    try {
      const { object: written } = await sendObject(
        { kind, namespace: base.metadata.namespace ?? "", base },
        value,
        false,
      );
      take(written);
      tell("Saved");
    } catch (problem) {
      setError(problem as Error);
    }
  };
  if (shape.error !== null) return <Problem error={shape.error} />;
  if (shape.value === null) return <Loading />;
  if (shape.value.names.length === 0) return <Empty title="This kind has no schema" />;
  return (
    <div class="edit">
      {overlap.length > 0 && (
        <p class="note conflict" role="alert">
          Somebody else changed {overlap.join(", ")} too. Your value is in the form.
          <Button onClick={() => take(object)}>Take theirs</Button>
        </p>
      )}
      <ObjectForm
        target={{ kind, namespace: base.metadata.namespace ?? "", base }}
        shape={shape.value}
        value={value}
        onChange={setValue}
      />
      {error !== null && <Problem error={error} title="Not saved" />}
      <div class="edit-actions">
        <span class="dim">{dirty ? "Changed" : "As on the server"}</span>
        <span class="spacer" />
        <Button disabled={!dirty} onClick={() => take(object)}>
          Discard
        </Button>
        <Button kind="primary" disabled={!dirty || gone} onClick={() => void save()}>
          Save
        </Button>
      </div>
    </div>
  );
}
