/** Parts of the page of a definition: an object to try, a comparison with another definition, the columns. */
import { useEffect, useState } from "preact/hooks";
import { findKind } from "../api/discovery";
import { TextEditor } from "../editor/TextEditor";
import { writeYaml } from "../editor/yaml";
import { Button, Empty } from "../ui/parts";
import { PlainTable } from "../ui/PlainTable";
import { compareSchemas } from "./compare";
import { type Definition, shapeOf, type Version } from "./definition";
import { exampleObject } from "./example";
import type { Shape } from "./shape";

export function Try({ definition, version, shape }: { definition: Definition; version: string; shape: Shape }) {
  const kind = findKind(definition.spec.group, version, definition.spec.names.plural);
  const [text, setText] = useState("");
  const make = (): void => setText(kind === undefined ? "" : writeYaml(exampleObject(kind, shape, "default")));
  useEffect(make, [kind, version]);
  if (kind === undefined || kind.version !== version) return <Empty title="This version is not served" />;
  return (
    <>
      <p class="dim try-note">The server judges the object as you write it, by a dry run. Nothing is stored.</p>
      {text !== "" && (
        <TextEditor
          key={version}
          target={{ kind, namespace: "default", base: null }}
          text={text}
          onChange={setText}
          onSave={() => undefined}
          check
        />
      )}
      <div class="edit-actions">
        <Button onClick={make}>Make an example again</Button>
      </div>
    </>
  );
}

export function Compare({
  definition,
  version,
  shape,
  all,
}: {
  definition: Definition;
  version: string;
  shape: Shape;
  all: Definition[];
}) {
  const choices = all.flatMap((one) =>
    one.spec.versions.map((each) => ({ id: `${one.metadata.name} ${each.name}`, version: each })),
  );
  const itself = `${definition.metadata.name} ${version}`;
  const [other, setOther] = useState(
    choices.find((one) => one.id !== itself && one.id.startsWith(definition.metadata.name))?.id ??
      choices.find((one) => one.id !== itself)?.id ??
      "",
  );
  const chosen = choices.find((one) => one.id === other);
  const changes = chosen === undefined ? [] : compareSchemas(shapeOf(chosen.version), shape);
  return (
    <>
      <label class="field selector">
        <span>Compared with</span>
        <select value={other} onChange={(event) => setOther(event.currentTarget.value)}>
          {choices
            .filter((one) => one.id !== itself)
            .map((one) => (
              <option key={one.id} value={one.id}>
                {one.id}
              </option>
            ))}
        </select>
      </label>
      {changes.length === 0 ? (
        <Empty title={chosen === undefined ? "There is no other definition" : "The schemas are the same"} />
      ) : (
        <ul class="panel schema-changes">
          {changes.map((one) => (
            <li key={`${one.path} ${one.kind}`}>
              <span class={`mark ${one.kind}`}>{one.kind}</span> <code>{one.path}</code>
              <pre>{one.text}</pre>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

export function Columns({ version }: { version: Version | undefined }) {
  const columns = version?.additionalPrinterColumns ?? [];
  return (
    <>
      {columns.length === 0 ? (
        <Empty title="No columns of its own">Tables show name and age.</Empty>
      ) : (
        <PlainTable label="Columns" heads={["Name", "Type", "Path", "Shown", "About"]}>
          {columns.map((one) => (
            <tr key={one.name}>
              <td>{one.name}</td>
              <td>{one.type}</td>
              <td>
                <code>{one.jsonPath}</code>
              </td>
              <td>{(one.priority ?? 0) === 0 ? "always" : "wide"}</td>
              <td>{one.description}</td>
            </tr>
          ))}
        </PlainTable>
      )}
      <p class="dim try-note">
        Subresources: {Object.keys(version?.subresources ?? {}).join(", ") || "none"}. Selectable fields:{" "}
        {(version?.selectableFields ?? []).map((one) => one.jsonPath).join(", ") || "none"}.
      </p>
    </>
  );
}
