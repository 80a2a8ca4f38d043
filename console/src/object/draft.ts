/** The text of an object that is edited. It survives other tabs and pages of the console, and changes by others. */
import { useEffect, useState } from "preact/hooks";
import { type Kind, pathOf } from "../api/discovery";
import { ask } from "../api/http";
import type { ApiObject, JsonObject } from "../api/types";
import { sendObject } from "../editor/check";
import { writeYaml, YamlText } from "../editor/yaml";
import { isSame, mergeThree } from "../logic/merge";
import { tell } from "../ui/toasts";
import { withoutManagedFields } from "./ManagersTab";

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

interface Kept {
  /** The object that the text began from. */
  base: ApiObject;
  /** The text of the base. */
  saved: string;
  text: string;
}

const kept = new Map<string, Kept>(); // changed texts by the path of their object; in memory only

window.addEventListener("beforeunload", (event) => kept.size > 0 && event.preventDefault());

export interface Draft extends Kept {
  setText: (text: string) => void;
  dirty: boolean;
  /** Whether the object changed since the base, in what is edited. */
  changedByOthers: boolean;
  mayWrite: boolean;
  saving: boolean;
  error: Error | null;
  save: () => void;
  /** Put the own changes on top of those of others. */
  merge: () => void;
  /** Give the own changes up. */
  discard: () => void;
  createAgain: () => void;
}

export function useDraft(kind: Kind, object: ApiObject, gone: boolean): Draft {
  const ownStatus = kind.subresources.includes("status");
  const key = pathOf(kind, object.metadata.namespace, object.metadata.name);
  const begin = (from: ApiObject): Kept => {
    const saved = writeYaml(editedPart(from, ownStatus));
    return { base: from, saved, text: saved };
  };
  const [draft, setDraft] = useState<Kept>(() => kept.get(key) ?? begin(object));
  const [error, setError] = useState<Error | null>(null);
  const [saving, setSaving] = useState(false);
  const { base, text, saved } = draft;
  const dirty = text !== saved;
  const version = object.metadata.resourceVersion;
  const changed = version !== base.metadata.resourceVersion;
  const changedByOthers = changed && !isSame(editedPart(object, ownStatus), editedPart(base, ownStatus));
  const put = (next: Kept): void => {
    if (next.text === next.saved) kept.delete(key);
    else kept.set(key, next);
    setDraft(next);
  };
  const take = (next: ApiObject): void => {
    put(begin(next));
    setError(null);
  };
  useEffect(() => {
    if (!changed || saving) return;
    if (!dirty) take(object);
    else if (!changedByOthers) put({ ...draft, base: object }); // such as a new status
  }, [version, dirty, saving]);

  const attempt = async (work: () => Promise<void>): Promise<void> => {
    setError(null);
    try {
      await work();
    } catch (problem) {
      setError(problem as Error);
    }
  };
  const save = async (): Promise<void> => {
    setSaving(true);
    await attempt(async () => {
      const target = { kind, namespace: base.metadata.namespace ?? "", base };
      const { object: written, warnings } = await sendObject(target, new YamlText(text).value, false);
      take(written);
      tell(warnings.length > 0 ? `Saved, with a warning: ${warnings.join(" ")}` : "Saved");
    });
    setSaving(false);
  };
  const merge = (): void => {
    const theirs = editedPart(object, ownStatus);
    const { value, conflicts } = mergeThree(editedPart(base, ownStatus), new YamlText(text).value, theirs);
    put({ base: object, saved: writeYaml(theirs), text: writeYaml(value) });
    setError(null);
    if (conflicts.length === 0) tell("Your changes are on top of theirs now; save to keep them");
    else tell(`You both changed ${conflicts.join(", ")}: your value is kept. Look at it before you save.`, "bad");
  };
  const createAgain = (): Promise<void> =>
    attempt(async () => {
      const path = `${pathOf(kind, base.metadata.namespace)}?fieldManager=podless-console`;
      await ask(path, { method: "POST", body: new YamlText(text).value });
      kept.delete(key);
      tell("Created again");
    });
  return {
    ...draft,
    dirty,
    changedByOthers,
    mayWrite: kind.verbs.includes("update") && !gone,
    saving,
    error,
    setText: (next) => put({ ...draft, text: next }),
    save: () => void save(),
    merge,
    discard: () => take(object),
    createAgain: () => void createAgain(),
  };
}
