/** The object as YAML or as a form, to be changed: nothing is lost when others change it meanwhile. */
import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { ApiObject } from "../api/types";
import { TextEditor } from "../editor/TextEditor";
import { writeYaml, YamlText } from "../editor/yaml";
import { ObjectForm } from "../form/ObjectForm";
import { loadShape } from "../schema/openapi";
import { DiffView } from "../ui/DiffView";
import { Button, Dialog, Empty, Loading, Problem, useLoaded } from "../ui/parts";
import { type Draft, editedPart, useDraft } from "./draft";
import type { TabProps } from "./ObjectPage";

function lastManager(object: ApiObject): string {
  const all = [...(object.metadata.managedFields ?? [])].sort((a, b) => ((a.time ?? "") < (b.time ?? "") ? 1 : -1));
  return all[0]?.manager ?? "Another client";
}

/** form: whether the object is shown as a form, not as YAML. Both show the same draft. */
export function EditTab({ form, ...props }: TabProps & { form: boolean }) {
  const { kind, object, gone } = props;
  const draft = useDraft(kind, object, gone);
  const { base, text, dirty, mayWrite } = draft;
  const target = { kind, namespace: base.metadata.namespace ?? "", base };
  return (
    <Frame {...props} draft={draft}>
      {form ? (
        <FormView {...props} draft={draft} />
      ) : (
        <TextEditor
          target={target}
          text={text}
          onChange={draft.setText}
          onSave={() => dirty && mayWrite && draft.save()}
          readOnly={!mayWrite}
          check={dirty && !gone}
        />
      )}
    </Frame>
  );
}

function FormView({ kind, draft }: TabProps & { draft: Draft }) {
  const { base, text } = draft;
  const shape = useLoaded(() => loadShape(kind), [kind]);
  const parsed = useMemo(() => new YamlText(text), [text]);
  if (shape.error !== null) return <Problem error={shape.error} />;
  if (shape.value === null) return <Loading />;
  if (shape.value.names.length === 0) return <Empty title="This kind has no schema" />;
  if (parsed.problems.length > 0) return <Empty title="The text is no YAML">Correct it on the tab YAML.</Empty>;
  return (
    <ObjectForm
      target={{ kind, namespace: base.metadata.namespace ?? "", base }}
      shape={shape.value}
      value={parsed.value}
      onChange={(value) => draft.setText(writeYaml(value))}
    />
  );
}

/** What YAML and form have in common: changes by others, errors, and what can be done with the draft. */
function Frame({ kind, object, gone, draft, children }: TabProps & { draft: Draft; children: ComponentChildren }) {
  const [comparing, setComparing] = useState(false);
  const { base, text, dirty, changedByOthers, mayWrite } = draft;
  const ownStatus = kind.subresources.includes("status");
  return (
    <div class="edit">
      {gone && (
        <p class="note conflict" role="alert">
          This object was deleted. Your text is still here.
          <Button onClick={draft.createAgain}>Create it again</Button>
        </p>
      )}
      {!gone && dirty && changedByOthers && (
        <div class="note conflict" role="alert">
          <span>
            <strong>{lastManager(object)}</strong> changed this object while you edit it. Your text is still here.
          </span>
          <Button onClick={() => setComparing(true)}>See their change</Button>
          <Button kind="primary" onClick={draft.merge}>
            Put mine on top
          </Button>
          <Button onClick={draft.discard}>Take theirs</Button>
        </div>
      )}
      {children}
      {draft.error !== null && <Problem error={draft.error} title="Not saved" />}
      <div class="edit-actions">
        <span class="dim">{!mayWrite ? "Read only" : dirty ? "Changed. Ctrl S saves." : "As on the server"}</span>
        <span class="spacer" />
        <Button disabled={!dirty} onClick={draft.discard}>
          Discard
        </Button>
        <Button disabled={!dirty} onClick={() => setComparing(true)}>
          Compare
        </Button>
        <Button kind="primary" disabled={!dirty || draft.saving || !mayWrite} onClick={draft.save}>
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
