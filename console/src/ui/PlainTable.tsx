/** A table whose rows are all there, in a box that scrolls. */
import type { ComponentChildren } from "preact";
import { Badge } from "./parts";

interface Props {
  label: string;
  heads: string[];
  /** The heads of columns with numbers. */
  numbers?: string[];
  /** Whether the box has a height of its own, for tables that grow. */
  tall?: boolean;
  children: ComponentChildren;
}

export function PlainTable({ label, heads, numbers = [], tall = false, children }: Props) {
  return (
    <div class={tall ? "table-box tall" : "table-box static"} tabIndex={0} role="region" aria-label={label}>
      <table>
        <thead>
          <tr>
            {heads.map((one) => (
              <th key={one} scope="col" class={numbers.includes(one) ? "number" : ""}>
                {one}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

/** The status code of an answer; 0 for none. */
export function StatusBadge({ code }: { code: number }) {
  return <Badge tone={code >= 400 || code === 0 ? "bad" : "good"}>{code === 0 ? "cut" : code}</Badge>;
}
