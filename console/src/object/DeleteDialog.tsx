/** Deletes an object, after it has shown what goes along. */
import { useState } from "preact/hooks";
import { type Kind, pathOf } from "../api/discovery";
import { ask } from "../api/http";
import type { ApiObject } from "../api/types";
import { KindSign } from "../ui/Icon";
import { Button, Dialog, Loading, Problem, useLoaded } from "../ui/parts";
import { tell } from "../ui/toasts";
import { findRelations } from "./relations";

const POLICIES = [
  { id: "Background", title: "Delete dependents afterwards" },
  { id: "Foreground", title: "Delete dependents first" },
  { id: "Orphan", title: "Keep dependents" },
];

export function DeleteDialog({ kind, object, onClose }: { kind: Kind; object: ApiObject; onClose: () => void }) {
  const { name, namespace = "", uid, finalizers = [] } = object.metadata;
  const [policy, setPolicy] = useState("Background");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const relations = useLoaded((signal) => findRelations(object, signal), [uid]);
  const remove = async (): Promise<void> => {
    setBusy(true);
    setError(null);
    try {
      const body = { apiVersion: "v1", kind: "DeleteOptions", propagationPolicy: policy, preconditions: { uid } };
      await ask(pathOf(kind, namespace, name), { method: "DELETE", body });
      tell(`${kind.kind} ${name} is deleted`);
      onClose();
    } catch (problem) {
      setError(problem as Error);
      setBusy(false);
    }
  };
  const found = relations.value?.dependents ?? [];
  return (
    <Dialog title={`Delete ${kind.kind} ${name}?`} onClose={onClose}>
      {finalizers.length > 0 && (
        <p class="note">It stays until these finalizers are removed: {finalizers.join(", ")}.</p>
      )}
      {relations.value === null && relations.error === null ? (
        <Loading what="Looking for what goes along" />
      ) : found.length === 0 ? (
        <p class="dim">No object names it as an owner.</p>
      ) : (
        <>
          <p>
            {policy === "Orphan"
              ? "These objects stay, and lose their owner:"
              : "These objects go along if they have no other owner:"}
          </p>
          <ul class="goes-along">
            {found.map((one) => (
              <li key={one.uid} style={{ "--depth": String(one.depth - 1) }}>
                <KindSign kind={one.kind} group={one.group} /> {one.kind} <strong>{one.name}</strong>
              </li>
            ))}
          </ul>
        </>
      )}
      <fieldset class="choices">
        <legend>Dependents</legend>
        {POLICIES.map((one) => (
          <label key={one.id}>
            <input type="radio" name="policy" checked={policy === one.id} onChange={() => setPolicy(one.id)} />{" "}
            {one.title}
          </label>
        ))}
      </fieldset>
      {error !== null && <Problem error={error} />}
      <div class="dialog-actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="danger" icon="trash" disabled={busy} onClick={() => void remove()}>
          Delete
        </Button>
      </div>
    </Dialog>
  );
}
