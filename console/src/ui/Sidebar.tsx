/** Navigation: the console's own pages, then the served kinds by group. */
import { useState } from "preact/hooks";
import { isBuiltin, type Kind, kinds } from "../api/discovery";
import { sidebarOpen } from "../state/preferences";
import { listHash, makeHash, route } from "../state/route";
import { Icon, type IconName, KindSign } from "./Icon";

const PAGES: { page: string; title: string; icon: IconName }[] = [
  { page: "", title: "Overview", icon: "home" },
  { page: "definitions", title: "Definitions", icon: "schema" },
  { page: "history", title: "History", icon: "history" },
  { page: "access", title: "Access", icon: "shield" },
  { page: "server", title: "Server", icon: "pulse" },
];

export interface Group {
  name: string;
  kinds: Kind[];
}

/** The kinds that can be listed, by group, in the version that the server prefers. */
export function groupKinds(all: Kind[], text: string): Group[] {
  const wanted = text.toLowerCase();
  const groups = new Map<string, Kind[]>();
  for (const kind of all) {
    if (!kind.preferred || !kind.verbs.includes("list")) continue;
    const names = [kind.kind, kind.resource, kind.group, ...kind.shortNames].join(" ").toLowerCase();
    if (wanted !== "" && !names.includes(wanted)) continue;
    groups.set(kind.group, [...(groups.get(kind.group) ?? []), kind]);
  }
  return [...groups].map(([name, found]) => ({ name, kinds: found.sort((a, b) => (a.kind < b.kind ? -1 : 1)) }));
}

export function Sidebar() {
  const [text, setText] = useState("");
  const groups = groupKinds(kinds.value, text);
  const custom = groups.filter((group) => !isBuiltin(group.name)).sort((a, b) => (a.name < b.name ? -1 : 1));
  const builtin = groups.filter((group) => isBuiltin(group.name)).sort((a, b) => (a.name < b.name ? -1 : 1));
  const { page, parts, query } = route.value;
  return (
    <nav
      class={sidebarOpen.value ? "sidebar open" : "sidebar"}
      aria-label="Kinds"
      onClick={(event) => event.target instanceof Element && event.target.closest("a") && (sidebarOpen.value = false)}
    >
      <ul class="nav-pages">
        {PAGES.map((one) => (
          <li key={one.page}>
            <a href={makeHash(one.page)} aria-current={page === one.page ? "page" : undefined}>
              <Icon name={one.icon} />
              {one.title}
            </a>
          </li>
        ))}
      </ul>
      <label class="field search nav-search">
        <Icon name="search" size={15} />
        <input
          type="search"
          placeholder="Find a kind"
          aria-label="Find a kind"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      {custom.length > 0 && <h2 class="nav-title">Custom resources</h2>}
      {custom.map((group) => (
        <NavGroup key={group.name} group={group} open namespace={query["ns"] ?? ""} current={parts} />
      ))}
      {builtin.length > 0 && <h2 class="nav-title">Built-in</h2>}
      {builtin.map((group) => (
        <NavGroup
          key={group.name}
          group={group}
          open={text !== "" || (group.name === "" && custom.length === 0)}
          namespace={query["ns"] ?? ""}
          current={parts}
        />
      ))}
    </nav>
  );
}

function NavGroup({
  group,
  open,
  namespace,
  current,
}: {
  group: Group;
  open: boolean;
  namespace: string;
  current: string[];
}) {
  const here = current[0] === (group.name || "core");
  return (
    <details class="nav-group" open={open || here}>
      <summary>
        <Icon name="chevron" size={13} />
        <span>{group.name || "core"}</span>
        <small>{group.kinds.length}</small>
      </summary>
      <ul>
        {group.kinds.map((kind) => (
          <li key={kind.resource}>
            <a
              href={listHash(kind, namespace)}
              aria-current={here && current[2] === kind.resource ? "page" : undefined}
            >
              <KindSign kind={kind.kind} group={kind.group} />
              <span>{kind.kind}</span>
            </a>
          </li>
        ))}
      </ul>
    </details>
  );
}
