/** The object with a colour for each manager of fields. */
import { useMemo, useState } from "preact/hooks";
import type { JsonObject } from "../api/types";
import type { Line } from "../logic/lines";
import { maskSecret } from "../logic/secret";
import { writeOwnedLines } from "../logic/owners";
import { formatAge } from "../logic/time";
import { hueOf } from "../ui/Icon";
import { Lines } from "../ui/Lines";
import { Empty, useNow } from "../ui/parts";
import type { TabProps } from "./ObjectPage";

export function withoutManagedFields(object: object): JsonObject {
  const { metadata, ...rest } = object as { metadata: JsonObject };
  const { managedFields: _, ...shown } = metadata;
  const { apiVersion, kind, ...more } = rest as unknown as JsonObject;
  return { apiVersion: apiVersion ?? "", kind: kind ?? "", metadata: shown, ...more };
}

type OwnedLine = Line<number[]>;

export function ManagersTab({ object }: TabProps) {
  const managers = object.metadata.managedFields ?? [];
  const [only, setOnly] = useState<number | null>(null);
  const now = useNow(5000);
  const lines = useMemo(() => writeOwnedLines(maskSecret(withoutManagedFields(object)), managers), [object]);
  if (managers.length === 0) return <Empty title="Nobody is recorded as a manager of this object's fields" />;
  const hue = (index: number): string =>
    String(
      hueOf(
        `${managers[index]?.manager ?? ""}/${managers[index]?.subresource ?? ""}/${managers[index]?.operation ?? ""}`,
      ),
    );
  const ownersOf = (line: OwnedLine): number[] => (only === null ? line.mark : line.mark.filter((one) => one === only));
  const namesOf = (line: OwnedLine | undefined): string =>
    (line === undefined ? [] : ownersOf(line)).map((one) => managers[one]?.manager ?? "").join(", ");
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
      <div>
        <Lines
          label="Object, with the managers of its fields"
          kind="owned"
          lines={lines}
          line={(line, index) => {
            const first = ownersOf(line)[0];
            const begins = namesOf(line) !== namesOf(lines[index - 1]);
            return (
              <li
                key={index}
                class={first === undefined ? "" : begins ? "has-owner begins" : "has-owner"}
                style={first === undefined ? undefined : { "--hue": hue(first) }}
              >
                <code>{line.text}</code>
                {first !== undefined && <small>{namesOf(line)}</small>}
              </li>
            );
          }}
        />
      </div>
    </div>
  );
}
