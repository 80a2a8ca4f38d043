/** The controls of fields that have one value. */
import { useId, useState } from "preact/hooks";
import type { Json } from "../api/types";
import { writeYaml, YamlText } from "../editor/yaml";
import type { Complaint, Step } from "../logic/fieldpath";
import { describeBounds, type Shape } from "../schema/shape";
import { Button } from "../ui/parts";
import { controlOf, readIntOrString } from "./model";

export interface FieldProps {
  name: string;
  shape: Shape;
  /** undefined: the field is not there. */
  value: Json | undefined;
  path: Step[];
  required: boolean;
  /** Whether it is an item of a list or an entry of a map, which a person added. */
  item?: boolean;
  complaints: Complaint[];
  onChange: (path: Step[], value: Json | undefined) => void;
}

const isAt = (complaint: Complaint, path: Step[]): boolean =>
  complaint.path.length === path.length && path.every((step, index) => String(step) === String(complaint.path[index]));

export function Hint({
  id,
  shape,
  complaints,
  path,
}: {
  id: string;
  shape: Shape;
  complaints: Complaint[];
  path: Step[];
}) {
  const own = complaints.filter((one) => isAt(one, path));
  const bounds = describeBounds(shape.schema).filter(
    (one) => !one.startsWith("list type") && !one.startsWith("one of"),
  );
  return (
    <div id={id} class="hint">
      {own.map((one) => (
        <p key={one.message} class="complaint" role="alert">
          {one.message}
        </p>
      ))}
      {(shape.schema.description !== undefined || bounds.length > 0) && (
        <p>
          {shape.schema.description} {bounds.length > 0 && <span class="bounds">{bounds.join(" · ")}</span>}
        </p>
      )}
    </div>
  );
}

export function Simple(props: FieldProps) {
  const { name, shape, value, path, required, complaints, onChange } = props;
  const id = useId();
  const bad = complaints.some((one) => isAt(one, path));
  return (
    <div class={bad ? "form-field bad" : "form-field"} data-field={path.join(".")}>
      <label for={id}>
        {name}
        {required && !props.item && <span class="required"> required</span>}
      </label>
      <div class="form-control">
        <Input {...props} id={id} />
        {value !== undefined && !required && (
          <Button icon="close" kind="plain" label={`Leave ${name} out`} onClick={() => onChange(path, undefined)} />
        )}
      </div>
      <Hint id={`${id}-hint`} shape={shape} complaints={complaints} path={path} />
    </div>
  );
}

function Input({ id, shape, value, path, complaints, onChange }: FieldProps & { id: string }) {
  const { schema } = shape;
  const common = { id, "aria-describedby": `${id}-hint`, "aria-invalid": complaints.some((one) => isAt(one, path)) };
  const placeholder =
    schema.default === undefined
      ? ""
      : `${typeof schema.default === "string" ? schema.default : JSON.stringify(schema.default)} (default)`;
  const text =
    value === undefined || value === null ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
  switch (controlOf(shape)) {
    case "choice":
      return (
        <select
          {...common}
          value={value === undefined ? "" : JSON.stringify(value)}
          onChange={(event) =>
            onChange(
              path,
              event.currentTarget.value === "" ? undefined : (JSON.parse(event.currentTarget.value) as Json),
            )
          }
        >
          <option value="">{placeholder || "–"}</option>
          {(schema.enum ?? []).map((one) => (
            <option key={JSON.stringify(one)} value={JSON.stringify(one)}>
              {typeof one === "string" ? one : JSON.stringify(one)}
            </option>
          ))}
        </select>
      );
    case "switch":
      return (
        <select
          {...common}
          value={text}
          onChange={(event) =>
            onChange(path, event.currentTarget.value === "" ? undefined : event.currentTarget.value === "true")
          }
        >
          <option value="">{placeholder || "–"}</option>
          <option value="true">true</option>
          <option value="false">false</option>
        </select>
      );
    case "integer":
    case "number":
      return (
        <input
          {...common}
          type="number"
          step={controlOf(shape) === "integer" ? 1 : "any"}
          min={schema.minimum}
          max={schema.maximum}
          placeholder={placeholder}
          value={text}
          onInput={(event) =>
            onChange(path, event.currentTarget.value === "" ? undefined : Number(event.currentTarget.value))
          }
        />
      );
    case "int-or-string":
      return (
        <input
          {...common}
          placeholder={placeholder}
          value={text}
          onInput={(event) =>
            onChange(path, event.currentTarget.value === "" ? undefined : readIntOrString(event.currentTarget.value))
          }
        />
      );
    case "lines":
      return (
        <textarea
          {...common}
          rows={4}
          placeholder={placeholder}
          value={text}
          onInput={(event) => onChange(path, event.currentTarget.value)}
        />
      );
    case "raw":
      return <Raw {...common} value={value} onChange={(given) => onChange(path, given)} />;
    default:
      return (
        <input
          {...common}
          placeholder={placeholder}
          value={text}
          onInput={(event) =>
            onChange(
              path,
              event.currentTarget.value === "" && value === undefined ? undefined : event.currentTarget.value,
            )
          }
        />
      );
  }
}

/** A value that has no schema, as YAML. */
function Raw({
  value,
  onChange,
  ...common
}: {
  id: string;
  value: Json | undefined;
  onChange: (value: Json | undefined) => void;
}) {
  const [text, setText] = useState(value === undefined ? "" : writeYaml(value));
  const [bad, setBad] = useState("");
  const take = (given: string): void => {
    setText(given);
    const parsed = new YamlText(given);
    setBad(parsed.problems[0]?.message ?? "");
    if (parsed.problems.length === 0) onChange(given.trim() === "" ? undefined : parsed.value);
  };
  return (
    <div class="raw">
      <textarea
        {...common}
        class="mono"
        rows={Math.min(Math.max(text.split("\n").length, 2), 12)}
        placeholder="YAML"
        value={text}
        onInput={(event) => take(event.currentTarget.value)}
      />
      {bad !== "" && <p class="complaint">{bad}</p>}
    </div>
  );
}
