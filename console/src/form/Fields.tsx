/** The fields of a form, one component for each sort of control. */
import { useId, useState } from "preact/hooks";
import type { Json } from "../api/types";
import { writeYaml, YamlText } from "../editor/yaml";
import type { Complaint, Step } from "../logic/fieldpath";
import { isObject } from "../logic/merge";
import { describeBounds, type Shape } from "../schema/shape";
import { Button } from "../ui/parts";
import { blankOf, controlOf, orderNames, readIntOrString } from "./model";

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

const isAt = (complaint: Complaint, path: Step[]): boolean => complaint.path.length === path.length && path.every((step, index) => String(step) === String(complaint.path[index]));
const isBelow = (complaint: Complaint, path: Step[]): boolean => complaint.path.length >= path.length && path.every((step, index) => String(step) === String(complaint.path[index]));

function Hint({ id, shape, complaints, path }: { id: string; shape: Shape; complaints: Complaint[]; path: Step[] }) {
  const own = complaints.filter((one) => isAt(one, path));
  const bounds = describeBounds(shape.schema).filter((one) => !one.startsWith("list type") && !one.startsWith("one of"));
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

/** One field, whatever it is. */
export function Field(props: FieldProps) {
  const control = controlOf(props.shape);
  return control === "group" || control === "list" || control === "map" ? <Compound {...props} /> : <Simple {...props} />;
}

function Simple(props: FieldProps) {
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
        {value !== undefined && !required && <Button icon="close" kind="plain" label={`Leave ${name} out`} onClick={() => onChange(path, undefined)} />}
      </div>
      <Hint id={`${id}-hint`} shape={shape} complaints={complaints} path={path} />
    </div>
  );
}

function Input({ id, shape, value, path, complaints, onChange }: FieldProps & { id: string }) {
  const { schema } = shape;
  const common = { id, "aria-describedby": `${id}-hint`, "aria-invalid": complaints.some((one) => isAt(one, path)) };
  const placeholder = schema.default === undefined ? "" : `${typeof schema.default === "string" ? schema.default : JSON.stringify(schema.default)} (default)`;
  const text = value === undefined || value === null ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
  switch (controlOf(shape)) {
    case "choice":
      return (
        <select {...common} value={value === undefined ? "" : JSON.stringify(value)} onChange={(event) => onChange(path, event.currentTarget.value === "" ? undefined : (JSON.parse(event.currentTarget.value) as Json))}>
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
        <select {...common} value={text} onChange={(event) => onChange(path, event.currentTarget.value === "" ? undefined : event.currentTarget.value === "true")}>
          <option value="">{placeholder || "–"}</option>
          <option value="true">true</option>
          <option value="false">false</option>
        </select>
      );
    case "integer":
    case "number":
      return <input {...common} type="number" step={controlOf(shape) === "integer" ? 1 : "any"} min={schema.minimum} max={schema.maximum} placeholder={placeholder} value={text} onInput={(event) => onChange(path, event.currentTarget.value === "" ? undefined : Number(event.currentTarget.value))} />;
    case "int-or-string":
      return <input {...common} placeholder={placeholder} value={text} onInput={(event) => onChange(path, event.currentTarget.value === "" ? undefined : readIntOrString(event.currentTarget.value))} />;
    case "lines":
      return <textarea {...common} rows={4} placeholder={placeholder} value={text} onInput={(event) => onChange(path, event.currentTarget.value)} />;
    case "raw":
      return <Raw {...common} value={value} onChange={(given) => onChange(path, given)} />;
    default:
      return <input {...common} placeholder={placeholder} value={text} onInput={(event) => onChange(path, event.currentTarget.value === "" && value === undefined ? undefined : event.currentTarget.value)} />;
  }
}

/** A value that has no schema, as YAML. */
function Raw({ value, onChange, ...common }: { id: string; value: Json | undefined; onChange: (value: Json | undefined) => void }) {
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
      <textarea {...common} class="mono" rows={Math.min(Math.max(text.split("\n").length, 2), 12)} placeholder="YAML" value={text} onInput={(event) => take(event.currentTarget.value)} />
      {bad !== "" && <p class="complaint">{bad}</p>}
    </div>
  );
}

function Compound(props: FieldProps) {
  const { name, shape, value, path, required, complaints, onChange } = props;
  const id = useId();
  const below = complaints.filter((one) => isBelow(one, path)).length;
  const [open, setOpen] = useState(required || (value !== undefined && path.length < 4));
  return (
    <details class="form-group" open={open || below > 0} data-field={path.join(".")} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {name}
        {required && !props.item && <span class="required"> required</span>}
        {below > 0 && <span class="count-bad">{below === 1 ? "1 problem" : `${below} problems`}</span>}
        {value === undefined && <span class="dim"> not set</span>}
      </summary>
      <div class="form-inner">
        <Hint id={id} shape={shape} complaints={complaints} path={path} />
        {value === undefined ? (
          <Button icon="plus" onClick={() => onChange(path, blankOf(shape))}>
            Set {name}
          </Button>
        ) : (
          <>
            {controlOf(shape) === "group" && <Group {...props} />}
            {controlOf(shape) === "list" && <List {...props} />}
            {controlOf(shape) === "map" && <Entries {...props} />}
            {!required && path.length > 1 && (
              <Button icon="trash" kind="plain" onClick={() => onChange(path, undefined)}>
                Leave {name} out
              </Button>
            )}
          </>
        )}
      </div>
    </details>
  );
}

function Group({ shape, value, path, complaints, onChange }: FieldProps) {
  const own = isObject(value) ? value : {};
  return (
    <>
      {orderNames(shape).map((name) => (
        <Field key={name} name={name} shape={shape.property(name) as Shape} value={own[name]} path={[...path, name]} required={shape.schema.required?.includes(name) ?? false} complaints={complaints} onChange={onChange} />
      ))}
    </>
  );
}

function List({ name, shape, value, path, complaints, onChange }: FieldProps) {
  const items = Array.isArray(value) ? value : [];
  const inner = shape.items as Shape;
  const titleOf = (item: Json, index: number): string => {
    const keys = shape.schema["x-kubernetes-list-map-keys"] ?? ["name"];
    const told = isObject(item) ? keys.map((key) => item[key]).filter((one) => typeof one === "string" || typeof one === "number").join(" ") : "";
    return told === "" ? `${index + 1}` : told;
  };
  return (
    <>
      {items.map((item, index) => (
        <div class="form-item" key={index}>
          <Field name={titleOf(item, index)} shape={inner} value={item} path={[...path, index]} required item complaints={complaints} onChange={onChange} />
          <Button icon="trash" kind="plain" label={`Remove item ${index + 1} of ${name}`} onClick={() => onChange([...path, index], undefined)} />
        </div>
      ))}
      <Button icon="plus" disabled={shape.schema.maxItems !== undefined && items.length >= shape.schema.maxItems} onClick={() => onChange([...path, items.length], blankOf(inner))}>
        Add an item
      </Button>
    </>
  );
}

function Entries({ name, shape, value, path, complaints, onChange }: FieldProps) {
  const own = isObject(value) ? value : {};
  const [key, setKey] = useState("");
  const add = (): void => {
    const inner = shape.property(key);
    if (key === "" || key in own || inner === undefined) return;
    onChange([...path, key], blankOf(inner));
    setKey("");
  };
  return (
    <>
      {Object.keys(own).map((one) => (
        <div class="form-item" key={one}>
          <Field name={one} shape={shape.property(one) as Shape} value={own[one]} path={[...path, one]} required item complaints={complaints} onChange={onChange} />
          <Button icon="trash" kind="plain" label={`Remove ${one} from ${name}`} onClick={() => onChange([...path, one], undefined)} />
        </div>
      ))}
      <div class="form-control">
        <input aria-label={`New key of ${name}`} placeholder="key" value={key} onInput={(event) => setKey(event.currentTarget.value)} onKeyDown={(event) => event.key === "Enter" && (event.preventDefault(), add())} />
        <Button icon="plus" disabled={key === "" || key in own} onClick={add}>
          Add an entry
        </Button>
      </div>
    </>
  );
}
