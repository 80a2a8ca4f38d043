/** Chooses a namespace: from the list, or by name where the user may not list namespaces. */
import { loadNamespaces, namespaces } from "../api/discovery";

export function NamespacePicker({
  value,
  onPick,
  all = true,
}: {
  value: string;
  onPick: (namespace: string) => void;
  all?: boolean;
}) {
  const names = namespaces.value;
  if (names === null) {
    return (
      <label class="field selector">
        <span>Namespace</span>
        <input
          value={value}
          placeholder={all ? "all" : "default"}
          onChange={(event) => onPick(event.currentTarget.value.trim())}
        />
      </label>
    );
  }
  return (
    <label class="field selector">
      <span>Namespace</span>
      <select
        value={value}
        onFocus={() => void loadNamespaces()}
        onChange={(event) => onPick(event.currentTarget.value)}
      >
        {all && <option value="">All</option>}
        {value !== "" && !names.includes(value) && <option value={value}>{value}</option>}
        {names.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
