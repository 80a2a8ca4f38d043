/** The data of a ConfigMap or Secret. The values of a Secret are hidden until the user wants to see them. */
import { useState } from "preact/hooks";
import type { ApiObject } from "../api/types";
import { isObject } from "../logic/merge";
import { decodeValue, isSecret, maskValue } from "../logic/secret";
import { Button, Empty } from "../ui/parts";

const MOST = 100; // entries that are shown
const LONGEST = 2000; // characters of a value that are shown

export function hasData(object: ApiObject): boolean {
  return object.apiVersion === "v1" && (object.kind === "ConfigMap" || object.kind === "Secret");
}

export function DataPanel({ object }: { object: ApiObject }) {
  const secret = isSecret(object);
  const [open, setOpen] = useState(false);
  const data = (object["data"] ?? {}) as Record<string, string>;
  const entries = isObject(data) ? Object.entries(data) : [];
  const shown = (value: string): string => (!secret ? value : open ? decodeValue(value) : maskValue(value));
  return (
    <>
      <div class="data-head">
        <h2 class="section-title">Data</h2>
        {secret && entries.length > 0 && (
          <Button icon="eye" pressed={open} onClick={() => setOpen(!open)}>
            Show the values
          </Button>
        )}
      </div>
      {entries.length === 0 ? (
        <Empty title="No data" />
      ) : (
        <dl class="pairs panel data">
          {entries.slice(0, MOST).map(([name, value]) => {
            const text = shown(value);
            return (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text}</dd>
              </div>
            );
          })}
        </dl>
      )}
      {entries.length > MOST && (
        <p class="dim">
          The first {MOST} of {entries.length} entries. The tab YAML has all.
        </p>
      )}
    </>
  );
}
