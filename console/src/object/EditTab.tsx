/** The object as YAML, to be changed: nothing is lost when somebody else changes it meanwhile. */
import { useEffect, useRef, useState } from "preact/hooks";
import { pathOf } from "../api/discovery";
import { ask } from "../api/http";
import type { ApiObject, JsonObject } from "../api/types";
import { sendObject } from "../editor/check";
import { TextEditor } from "../editor/TextEditor";
import { writeYaml, YamlText } from "../editor/yaml";
import { isSame, mergeThree } from "../logic/merge";
import { Button, Dialog, Problem } from "../ui/parts";
import { tell } from "../ui/toasts";
import { DiffView } from "../ui/DiffView";
import { withoutManagedFields } from "./ManagersTab";
import type { TabProps } from "./ObjectPage";

/** What is edited of an object: without what the server alone sets, and without a status that has its own subresource. */
export function editedPart(object: ApiObject, ownStatus: boolean): JsonObject {
  const { status, ...rest } = withoutManagedFields(object);
  const {
    uid: _u,
    resourceVersion: _r,
    generation: _g,
    creationTimestamp: _c,
    selfLink: _s,
    ...metadata
  } = rest["metadata"] as JsonObject;
  const shown: JsonObject = { ...rest, metadata };
  return ownStatus || status === undefined ? shown : { ...shown, status };
}

function lastManager(object: ApiObject): string {
  const all = [...(object.metadata.managedFields ?? [])].sort((a, b) => ((a.time ?? "") < (b.time ?? "") ? 1 : -1));
  return all[0]?.manager ?? "somebody else";
}

export function EditTab({ kind, object, gone }: TabProps) {
  const ownStatus = kind.subresources.includes("status");
  const [base, setBase] = useState(object);
  const [text, setText] = useState(() => writeYaml(editedPart(object, ownStatus)));
  const [error, setError] = useState<Error | null>(null);
  const [comparing, setComparing] = useState(false);
  const [saving, setSaving] = useState(false);
  const saved = useRef(text);
  const dirty = text !== saved.current;
  const changedByOthers =
    object.metadata.resourceVersion !== base.metadata.resourceVersion &&
    !isSame(editedPart(object, ownStatus), editedPart(base, ownStatus));
  const mayWrite = kind.verbs.includes("update") && !gone;

  const take = (next: ApiObject): void => {
    const written = writeYaml(editedPart(next, ownStatus));
    saved.current = written;
    setBase(next);
    setText(written);
    setError(null);
  };
  useEffect(() => {
    if (object.metadata.resourceVersion === base.metadata.resourceVersion || saving) return;
    if (!dirty) take(object);
    else if (!changedByOthers) setBase(object); // such as a new status
  }, [object.metadata.resourceVersion, dirty, saving]);

  const save = async (): Promise<void> => {
    setSaving(true);
    setError(null);
    try {
      const { object: written, warnings } = await sendObject(
        { kind, namespace: base.metadata.namespace ?? "", base },
        new YamlText(text).value,
        false,
      );
      take(written);
      tell(warnings.length > 0 ? `Saved, with a warning: ${warnings.join(" ")}` : "Saved");
    } catch (problem) {
      setError(problem as Error);
    } finally {
      setSaving(false);
    }
  };
  const merge = (): void => {
    const mine = new YamlText(text).value;
    const theirs = editedPart(object, ownStatus);
    const merged = mergeThree(editedPart(base, ownStatus), mine, theirs);
    saved.current = writeYaml(theirs);
    setBase(object);
    setText(writeYaml(merged.value));
    setError(null);
    tell(
      merged.conflicts.length === 0
        ? "Your changes are on top of theirs now; save to keep them"
        : `You both changed ${merged.conflicts.join(", ")}: your value is kept. Look at it before you save.`,
      merged.conflicts.length === 0 ? "good" : "bad",
    );
  };
  const createAgain = async (): Promise<void> => {
    try {
      await ask(`${pathOf(kind, base.metadata.namespace)}?fieldManager=podless-console`, {
        method: "POST",
        body: new YamlText(text).value,
      });
      tell("Created again");
    } catch (problem) {
      setError(problem as Error);
    }
  };
  return (
    <div class="edit">
      {gone && (
        <p class="note conflict" role="alert">
          This object was deleted. Your text is still here.
          <Button onClick={() => void createAgain()}>Create it again</Button>
        </p>
      )}
      {!gone && dirty && changedByOthers && (
        <div class="note conflict" role="alert">
          <span>
            <strong>{lastManager(object)}</strong> changed this object while you edit it. Your text is still here.
          </span>
          <Button onClick={() => setComparing(true)}>See their change</Button>
          <Button kind="primary" onClick={merge}>
            Put mine on top
          </Button>
          <Button onClick={() => take(object)}>Take theirs</Button>
        </div>
      )}
      <TextEditor
        target={{ kind, namespace: base.metadata.namespace ?? "", base }}
        text={text}
        onChange={setText}
        onSave={() => dirty && mayWrite && void save()}
        readOnly={!mayWrite}
        check={dirty && !gone}
      />
      {error !== null && <Problem error={error} title="Not saved" />}
      <div class="edit-actions">
        <span class="dim">{!mayWrite ? "Read only" : dirty ? "Changed. Ctrl S saves." : "As on the server"}</span>
        <span class="spacer" />
        <Button disabled={!dirty} onClick={() => take(object)}>
          Discard
        </Button>
        <Button disabled={!dirty} onClick={() => setComparing(true)}>
          Compare
        </Button>
        <Button kind="primary" disabled={!dirty || saving || gone} onClick={() => void save()}>
          Save
        </Button>
      </div>
      {comparing && (
        <Dialog
          wide
          title={changedByOthers ? "What they changed" : "What you changed"}
          onClose={() => setComparing(false)}
        >
          <DiffView
            before={writeYaml(editedPart(base, ownStatus))}
            after={changedByOthers ? writeYaml(editedPart(object, ownStatus)) : text}
          />
        </Dialog>
      )}
    </div>
  );
}
