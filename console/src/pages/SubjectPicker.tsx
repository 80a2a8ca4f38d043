/** Fields that name a user, a service account or a group; those of role bindings are proposed. */
import { useState } from "preact/hooks";
import { get } from "../api/http";
import type { ApiList, ApiObject } from "../api/types";
import { Button, useLoaded } from "../ui/parts";
import type { Subject } from "./access";

interface Binding extends ApiObject {
  subjects?: { kind: string; name: string; namespace?: string }[];
}

const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const MOST = 200; // names that are proposed

async function readNames(signal: AbortSignal): Promise<{ users: string[]; groups: string[] }> {
  const users = new Set<string>();
  const groups = new Set<string>();
  for (const resource of ["clusterrolebindings", "rolebindings"]) {
    const list = await get<ApiList<Binding>>(`${RBAC}/${resource}?limit=500`, { signal, quiet: true });
    for (const one of (list.items ?? []).flatMap((binding) => binding.subjects ?? [])) {
      if (one.kind === "Group") groups.add(one.name);
      else users.add(one.kind === "ServiceAccount" ? `system:serviceaccount:${one.namespace}:${one.name}` : one.name);
    }
  }
  return { users: [...users].sort().slice(0, MOST), groups: [...groups].sort().slice(0, MOST) };
}

export function SubjectPicker({ onAdd }: { onAdd: (subject: Subject) => void }) {
  const [user, setUser] = useState("");
  const [groups, setGroups] = useState("");
  const names = useLoaded(readNames, []).value; // null for a user who may not list bindings
  const add = (): void => {
    const given = groups.split(",").map((one) => one.trim());
    onAdd({ user: user.trim(), groups: given.filter((one) => one !== "") });
    setUser("");
    setGroups("");
  };
  return (
    <form
      class="subject-picker"
      onSubmit={(event) => {
        event.preventDefault();
        add();
      }}
    >
      <label class="field selector">
        <span>User</span>
        <input
          value={user}
          placeholder="zoe"
          list="known-users"
          onInput={(event) => setUser(event.currentTarget.value)}
        />
      </label>
      <label class="field selector">
        <span>Groups</span>
        <input
          value={groups}
          placeholder="team-a,team-b"
          list="known-groups"
          onInput={(event) => setGroups(event.currentTarget.value)}
        />
      </label>
      <datalist id="known-users">
        {names?.users.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
      <datalist id="known-groups">
        {names?.groups.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
      <Button submit icon="plus" disabled={user.trim() === "" && groups.trim() === ""}>
        Add
      </Button>
    </form>
  );
}
