/** The fields of a form, one component for each sort of control. */
import { useId, useState } from "preact/hooks";
import type { Json } from "../api/types";
import type { Complaint, Step } from "../logic/fieldpath";
import { isObject } from "../logic/merge";
import type { Shape } from "../schema/shape";
import { Button } from "../ui/parts";
import { type FieldProps, Hint, Simple } from "./controls";
import { blankOf, controlOf, orderNames } from "./model";

const isBelow = (complaint: Complaint, path: Step[]): boolean =>
  complaint.path.length >= path.length && path.every((step, index) => String(step) === String(complaint.path[index]));

/** One field, whatever it is. */
export function Field(props: FieldProps) {
  const control = controlOf(props.shape);
  return control === "group" || control === "list" || control === "map" ? (
    <Compound {...props} />
  ) : (
    <Simple {...props} />
  );
}

function Compound(props: FieldProps) {
  const { name, shape, value, path, required, complaints, onChange } = props;
  const id = useId();
  const below = complaints.filter((one) => isBelow(one, path)).length;
  const [open, setOpen] = useState(required || (value !== undefined && path.length < 4));
  return (
    <details
      class="form-group"
      open={open || below > 0}
      data-field={path.join(".")}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
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
        <Field
          key={name}
          name={name}
          shape={shape.property(name) as Shape}
          value={own[name]}
          path={[...path, name]}
          required={shape.schema.required?.includes(name) ?? false}
          complaints={complaints}
          onChange={onChange}
        />
      ))}
    </>
  );
}

function List({ name, shape, value, path, complaints, onChange }: FieldProps) {
  const items = Array.isArray(value) ? value : [];
  const inner = shape.items as Shape;
  const titleOf = (item: Json, index: number): string => {
    const keys = shape.schema["x-kubernetes-list-map-keys"] ?? ["name"];
    const told = isObject(item)
      ? keys
          .map((key) => item[key])
          .filter((one) => typeof one === "string" || typeof one === "number")
          .join(" ")
      : "";
    return told === "" ? `${index + 1}` : told;
  };
  return (
    <>
      {items.map((item, index) => (
        <div class="form-item" key={index}>
          <Field
            name={titleOf(item, index)}
            shape={inner}
            value={item}
            path={[...path, index]}
            required
            item
            complaints={complaints}
            onChange={onChange}
          />
          <Button
            icon="trash"
            kind="plain"
            label={`Remove item ${index + 1} of ${name}`}
            onClick={() => onChange([...path, index], undefined)}
          />
        </div>
      ))}
      <Button
        icon="plus"
        disabled={shape.schema.maxItems !== undefined && items.length >= shape.schema.maxItems}
        onClick={() => onChange([...path, items.length], blankOf(inner))}
      >
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
          <Field
            name={one}
            shape={shape.property(one) as Shape}
            value={own[one]}
            path={[...path, one]}
            required
            item
            complaints={complaints}
            onChange={onChange}
          />
          <Button
            icon="trash"
            kind="plain"
            label={`Remove ${one} from ${name}`}
            onClick={() => onChange([...path, one], undefined)}
          />
        </div>
      ))}
      <div class="form-control">
        <input
          aria-label={`New key of ${name}`}
          placeholder="key"
          value={key}
          onInput={(event) => setKey(event.currentTarget.value)}
          onKeyDown={(event) => event.key === "Enter" && (event.preventDefault(), add())}
        />
        <Button icon="plus" disabled={key === "" || key in own} onClick={add}>
          Add an entry
        </Button>
      </div>
    </>
  );
}
