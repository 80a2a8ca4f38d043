/** Creates an object, from an example that its schema gives. */
import { useEffect, useState } from "preact/hooks";
import { findKind, type Kind, kinds, pathOf } from "../api/discovery";
import type { Json } from "../api/types";
import { sendObject } from "../editor/check";
import { TextEditor } from "../editor/TextEditor";
import { writeYaml, YamlText } from "../editor/yaml";
import { ObjectForm } from "../form/ObjectForm";
import { isObject } from "../logic/merge";
import { Missing } from "../pages/ListPage";
import { loadShape } from "../schema/openapi";
import type { Shape } from "../schema/shape";
import { exampleObject } from "../schema/example";
import { go, kindOfRoute, listHash, objectHash, route } from "../state/route";
import { KindSign } from "../ui/Icon";
import { Button, Loading, Problem } from "../ui/parts";
import { tell } from "../ui/toasts";
import "../styles/object.css";

export function NewPage() {
  const [group, version, resource] = kindOfRoute(route.value.parts);
  const kind = findKind(group, version, resource);
  if (kind === undefined) return kinds.value.length === 0 ? <Loading /> : <Missing group={group} resource={resource} />;
  return <NewObject key={`${kind.group}/${kind.resource}`} kind={kind} namespace={route.value.query["ns"] ?? ""} />;
}

const kept = new Map<string, string>(); // texts that were begun, by the path of their collection; in memory only

function NewObject({ kind, namespace }: { kind: Kind; namespace: string }) {
  const [text, setText] = useState<string | null>(null);
  const [shape, setShape] = useState<Shape | null>(null);
  const [form, setForm] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const target = { kind, namespace, base: null };
  const place = pathOf(kind, namespace);
  const change = (next: string): void => {
    kept.set(place, next);
    setText(next);
  };
  useEffect(() => {
    const begin = (found: Shape | null): void => {
      setShape(found);
      setText(kept.get(place) ?? writeYaml(exampleObject(kind, found, namespace)));
    };
    loadShape(kind).then(begin, () => begin(null));
  }, [kind]);
  const create = async (value: Json): Promise<void> => {
    setError(null);
    try {
      const { object, warnings } = await sendObject(target, value, false);
      kept.delete(place);
      tell(
        warnings.length > 0
          ? `Created, with a warning: ${warnings.join(" ")}`
          : `${kind.kind} ${object.metadata.name} is created`,
      );
      go(objectHash(kind, object.metadata.namespace ?? "", object.metadata.name));
    } catch (problem) {
      setError(problem as Error);
    }
  };
  const parsed = (): Json => new YamlText(text ?? "").value;
  return (
    <section class="page">
      <nav class="crumbs" aria-label="Way">
        <a href={listHash(kind, namespace)}>{kind.kind}</a>
      </nav>
      <header class="page-head">
        <KindSign kind={kind.kind} group={kind.group} large />
        <div class="titles">
          <h1>New {kind.kind}</h1>
          <p class="dim">{shape?.schema.description}</p>
        </div>
        <span class="spacer" />
        <Button pressed={!form} onClick={() => setForm(false)}>
          YAML
        </Button>
        <Button pressed={form} disabled={shape === null} onClick={() => setForm(true)}>
          Form
        </Button>
      </header>
      {text === null ? (
        <Loading />
      ) : form && shape !== null ? (
        <ObjectForm
          target={target}
          shape={shape}
          value={isObject(parsed()) ? parsed() : {}}
          onChange={(value) => change(writeYaml(value))}
        />
      ) : (
        <TextEditor target={target} text={text} onChange={change} onSave={() => void create(parsed())} check />
      )}
      {error !== null && <Problem error={error} title="Not created" />}
      <div class="edit-actions">
        <span class="spacer" />
        <Button
          onClick={() => {
            kept.delete(place);
            go(listHash(kind, namespace));
          }}
        >
          Cancel
        </Button>
        <Button kind="primary" icon="plus" onClick={() => void create(parsed())}>
          Create
        </Button>
      </div>
    </section>
  );
}
