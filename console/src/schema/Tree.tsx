/** A schema as a tree that opens field by field. */
import { CostLine } from "./Costs";
import type { RuleCost } from "./costs";
import { describeBounds, describeType, type Rule, type Shape } from "./shape";

const DEEPEST = 24;

export function RuleLine({ rule, cost }: { rule: Rule; cost?: RuleCost }) {
  return (
    <li class="rule">
      <code>{rule.rule}</code>
      {cost !== undefined && <CostLine cost={cost} />}
      {(rule.message !== undefined || rule.messageExpression !== undefined) && (
        <p>{rule.message ?? rule.messageExpression}</p>
      )}
      {rule.fieldPath !== undefined && <p class="dim">tells of {rule.fieldPath}</p>}
    </li>
  );
}

interface Props {
  name: string;
  shape: Shape;
  required?: boolean;
  depth?: number;
  /** Marks of fields by path, such as those of a comparison. */
  marks?: Map<string, string>;
  path?: string;
  /** The estimated costs of rules, and the path of this node as they have it. */
  costs?: RuleCost[];
  at?: string;
}

function childrenOf(shape: Shape): { name: string; shape: Shape; required: boolean; step: string }[] {
  const { schema } = shape;
  const found = shape.names.map((name) => ({
    name,
    shape: shape.property(name) as Shape,
    required: schema.required?.includes(name) ?? false,
    step: `properties[${name}]`,
  }));
  const { items } = shape;
  if (items !== undefined)
    return items.names.length > 0 || items.items !== undefined || items.schema["x-kubernetes-validations"] !== undefined
      ? [{ name: "[each item]", shape: items, required: false, step: "items" }]
      : [];
  if (typeof schema.additionalProperties === "object")
    return [
      {
        name: "[each key]",
        shape: shape.with(schema.additionalProperties),
        required: false,
        step: "additionalProperties",
      },
    ];
  return found;
}

export function SchemaTree({ name, shape, required = false, depth = 0, marks, path = "", costs, at = "" }: Props) {
  const { schema } = shape;
  const own = path === "" ? name : `${path}.${name}`;
  const below = depth < DEEPEST ? childrenOf(shape) : [];
  const rules = schema["x-kubernetes-validations"] ?? [];
  const mark = marks?.get(own);
  const head = (
    <>
      <span class="tree-name">{name}</span> <span class="tree-type">{describeType(schema)}</span>
      {required && <span class="required"> required</span>}
      {mark !== undefined && <span class={`mark ${mark}`}>{mark}</span>}
      {rules.length > 0 && <span class="rules-count">{rules.length === 1 ? "1 rule" : `${rules.length} rules`}</span>}
    </>
  );
  const about = (
    <div class="tree-about">
      {schema.description !== undefined && <p>{schema.description}</p>}
      {describeBounds(schema).length > 0 && <p class="bounds">{describeBounds(schema).join(" · ")}</p>}
      {rules.length > 0 && (
        <ul>
          {rules.map((rule) => (
            <RuleLine
              key={rule.rule}
              rule={rule}
              cost={costs?.find((one) => one.path === at && one.rule === rule.rule)}
            />
          ))}
        </ul>
      )}
    </div>
  );
  if (below.length === 0) {
    return (
      <li class={mark === undefined ? "tree-leaf" : `tree-leaf ${mark}`}>
        {head}
        {about}
      </li>
    );
  }
  return (
    <li class={mark ?? ""}>
      <details open={depth < 2}>
        <summary>{head}</summary>
        {about}
        <ul class="tree">
          {below.map((one) => (
            <SchemaTree
              key={one.name}
              name={one.name}
              shape={one.shape}
              required={one.required}
              depth={depth + 1}
              marks={marks}
              path={own}
              costs={costs}
              at={at === "" ? one.step : `${at}.${one.step}`}
            />
          ))}
        </ul>
      </details>
    </li>
  );
}
