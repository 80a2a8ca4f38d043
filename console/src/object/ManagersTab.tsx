/** The object with a colour for each manager of fields. */
import { useMemo, useState } from "preact/hooks";
import type { JsonObject } from "../api/types";
import { writeOwnedLines } from "../logic/owners";
import { formatAge } from "../logic/time";
import { hueOf } from "../ui/Icon";
import { Empty, useNow } from "../ui/parts";
import type { TabProps } from "./ObjectPage";

export function withoutManagedFields(object: object): JsonObject {
  const { metadata, ...rest } = object as { metadata: JsonObject };
  const { managedFields: _, ...shown } = metadata;
  const { apiVersion, kind, ...more } = rest as unknown as JsonObject;
  return { apiVersion: apiVersion ?? "", kind: kind ?? "", metadata: shown, ...more };
}

export function ManagersTab({ object }: TabProps) {
  const managers = object.metadata.managedFields ?? [];
  const [only, setOnly] = useState<number | null>(null);
  const now = useNow(5000);
  const lines = useMemo(() => writeOwnedLines(withoutManagedFields(object), managers), [object]);
  if (managers.length === 0) return <Empty title="Nobody is recorded as a manager of this object's fields" />;
  const hue = (index: number): string =>
    String(
      hueOf(
        `${managers[index]?.manager ?? ""}/${managers[index]?.subresource ?? ""}/${managers[index]?.operation ?? ""}`,
      ),
    );
  return (
    <div class="managers">
      <ul class="manager-list" aria-label="Managers">
        {managers.map((one, index) => (
          <li key={index}>
            <button
              type="button"
              class="manager"
              style={{ "--hue": hue(index) }}
              aria-pressed={only === index}
              onClick={() => setOnly(only === index ? null : index)}
            >
              <strong>{one.manager}</strong>
              <small>
                {one.operation}
                {one.subresource ? ` of ${one.subresource}` : ""}
                {one.time ? ` · ${formatAge(one.time, now)} ago` : ""}
              </small>
            </button>
          </li>
        ))}
      </ul>
      <ol class="code owned panel" tabIndex={0} aria-label="Object, with the managers of its fields">
        {lines.map((line, index) => {
          const shown = only === null ? line.mark : line.mark.filter((one) => one === only);
          const first = shown[0];
          const names = line.mark.map((one) => managers[one]?.manager ?? "").join(", ");
          return (
            <li
              key={index}
              class={first === undefined ? "" : "has-owner"}
              style={first === undefined ? undefined : { "--hue": hue(first) }}
            >
              <code>{line.text}</code>
              {first !== undefined && <small>{names}</small>}
            </li>
          );
        })}
      </ol>
    </div>
  );
}
