/** Faults for tests, switched on and off: objects of testing.podless.dev. */
import { useState } from "preact/hooks";
import { findKind, pathOf } from "../api/discovery";
import { ask, get } from "../api/http";
import type { ApiList, ApiObject } from "../api/types";
import { Badge, Button, Empty, useLoaded } from "../ui/parts";
import { tell } from "../ui/toasts";

interface Fault extends ApiObject {
  spec: Record<string, unknown>;
  status?: { matched?: number; injected?: number };
}

const READY: { title: string; spec: Record<string, unknown> }[] = [
  { title: "Reject every other write with 500", spec: { verb: "update", status: 500, probability: 0.5 } },
  { title: "Conflict on updates", spec: { verb: "update", status: 409 } },
  { title: "Answer slowly (2 s)", spec: { verb: "list", delay: 2 } },
];

export function Faults() {
  const kind = findKind("testing.podless.dev", "v1", "faults");
  const [turn, setTurn] = useState(0);
  const found = useLoaded(
    (signal) => (kind === undefined ? Promise.resolve(null) : get<ApiList<Fault>>(pathOf(kind), { signal })),
    [kind, turn],
  );
  if (kind === undefined) return <p class="dim">Start the server with --enable-faults to inject errors.</p>;
  const act = async (work: () => Promise<unknown>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      tell((error as Error).message, "bad");
    }
    setTurn((before) => before + 1);
  };
  const list = found.value?.items ?? [];
  return (
    <>
      <div class="two-fields">
        {READY.map((one) => (
          <Button
            key={one.title}
            icon="plus"
            onClick={() =>
              void act(() =>
                ask(pathOf(kind), {
                  method: "POST",
                  body: {
                    apiVersion: "testing.podless.dev/v1",
                    kind: "Fault",
                    metadata: { generateName: "console-" },
                    spec: one.spec,
                  },
                }),
              )
            }
          >
            {one.title}
          </Button>
        ))}
      </div>
      {list.length === 0 ? (
        <Empty title="No faults" />
      ) : (
        <ul class="panel faults">
          {list.map((one) => (
            <li key={one.metadata.name}>
              <strong>{one.metadata.name}</strong>
              <code>{JSON.stringify(one.spec)}</code>
              <Badge tone="busy">{one.status?.injected ?? 0} injected</Badge>
              <span class="spacer" />
              <Button
                icon="trash"
                kind="danger"
                onClick={() => void act(() => ask(pathOf(kind, "", one.metadata.name), { method: "DELETE" }))}
              >
                Switch off
              </Button>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
