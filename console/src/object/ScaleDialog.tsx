/** Changes the number of replicas through the scale subresource. */
import { useState } from "preact/hooks";
import { type Kind, pathOf } from "../api/discovery";
import { ask, get } from "../api/http";
import type { ApiObject } from "../api/types";
import { Button, Dialog, Loading, Problem, useLoaded } from "../ui/parts";
import { tell } from "../ui/toasts";

interface Scale {
  spec?: { replicas?: number };
  status?: { replicas?: number };
}

export function ScaleDialog({ kind, object, onClose }: { kind: Kind; object: ApiObject; onClose: () => void }) {
  const { name, namespace = "" } = object.metadata;
  const path = pathOf(kind, namespace, name, "scale");
  const scale = useLoaded((signal) => get<Scale>(path, { signal }), [path]);
  const [given, setGiven] = useState<number | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const wanted = given ?? scale.value?.spec?.replicas ?? 0;
  const save = async (): Promise<void> => {
    setError(null);
    try {
      await ask(`${path}?fieldManager=podless-console`, {
        method: "PATCH",
        contentType: "application/merge-patch+json",
        body: { spec: { replicas: wanted } },
      });
      tell(`${kind.kind} ${name} is scaled to ${wanted}`);
      onClose();
    } catch (problem) {
      setError(problem as Error);
    }
  };
  const problem = error ?? scale.error;
  return (
    <Dialog title={`Scale ${name}`} onClose={onClose}>
      {scale.value === null && scale.error === null ? (
        <Loading />
      ) : (
        <form
          class="scale-form"
          onSubmit={(event) => {
            event.preventDefault();
            void save();
          }}
        >
          <Button label="One less" onClick={() => setGiven(Math.max(wanted - 1, 0))}>
            −
          </Button>
          <input
            type="number"
            min={0}
            aria-label="Replicas"
            value={wanted}
            onInput={(event) => setGiven(Math.max(Math.trunc(Number(event.currentTarget.value)), 0))}
          />
          <Button label="One more" onClick={() => setGiven(wanted + 1)}>
            +
          </Button>
          <span class="dim">The status tells of {scale.value?.status?.replicas ?? 0}.</span>
          <span class="spacer" />
          <Button kind="primary" submit>
            Scale
          </Button>
        </form>
      )}
      {problem !== null && <Problem error={problem} />}
    </Dialog>
  );
}
