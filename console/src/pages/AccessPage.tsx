/** Who may do what, and which requests of this session were refused. */
import { useEffect, useState } from "preact/hooks";
import { isBuiltin, type Kind, kinds } from "../api/discovery";
import { formatAge } from "../logic/time";
import { explainRefusal, refusals } from "../state/refusals";
import { route, setQuery } from "../state/route";
import { Icon } from "../ui/Icon";
import { NamespacePicker } from "../ui/NamespacePicker";
import { Badge, Button, Empty, Loading, Problem, useLoaded, useNow } from "../ui/parts";
import { allows, type Leave, readOwnRules, reviewAccess, VERBS } from "./access";
import "../styles/definitions.css";

const AT_ONCE = 4;

function shownKinds(all: boolean): Kind[] {
  const found = kinds.value.filter((kind) => kind.preferred && (all || !isBuiltin(kind.group) || (kind.group === "" && ["configmaps", "secrets", "namespaces", "events", "serviceaccounts"].includes(kind.resource))));
  return [...found].sort((a, b) => Number(isBuiltin(a.group)) - Number(isBuiltin(b.group)) || (a.kind < b.kind ? -1 : 1));
}

export function AccessPage() {
  const namespace = route.value.query["ns"] ?? "default";
  const [who, setWho] = useState("");
  const [groups, setGroups] = useState("");
  const [all, setAll] = useState(false);
  return (
    <section class="page">
      <header class="page-head">
        <div class="titles">
          <h1>Access</h1>
          <p class="dim">{who === "" ? "What you may do" : `What ${who} may do`} in the namespace {namespace}</p>
        </div>
      </header>
      <div class="filters">
        <NamespacePicker value={namespace} all={false} onPick={(ns) => setQuery({ ns })} />
        <label class="field selector">
          <span>User</span>
          <input value={who} placeholder="you" onChange={(event) => setWho(event.currentTarget.value.trim())} />
        </label>
        <label class="field selector">
          <span>Groups</span>
          <input value={groups} placeholder="team-a,team-b" onChange={(event) => setGroups(event.currentTarget.value)} />
        </label>
        <Button pressed={all} onClick={() => setAll(!all)}>
          All kinds
        </Button>
      </div>
      {who === "" ? <OwnMatrix namespace={namespace} list={shownKinds(all)} /> : <OtherMatrix key={who + groups + namespace} namespace={namespace} user={who} groups={groups.split(",").filter((one) => one !== "")} list={shownKinds(all)} />}
      <Refusals />
    </section>
  );
}

const WORDS: Record<Leave, string> = { yes: "allowed", some: "allowed for some names", no: "not allowed" };

function Sign({ leave }: { leave: Leave | undefined }) {
  if (leave === undefined) return <span class="dim">…</span>;
  return (
    <span title={WORDS[leave]}>
      {leave === "yes" ? (
        <span class="yes">
          <Icon name="check" size={16} />
        </span>
      ) : (
        <span class={leave === "some" ? "yes" : "no"}>{leave === "some" ? "some" : "–"}</span>
      )}
      <span class="visually-hidden">{WORDS[leave]}</span>
    </span>
  );
}

function Matrix({ list, of }: { list: Kind[]; of: (kind: Kind, verb: string) => Leave | undefined }) {
  return (
    <div class="table-box static matrix" tabIndex={0} role="region" aria-label="Access by kind and verb">
      <table>
        <thead>
          <tr>
            <th scope="col">Kind</th>
            {VERBS.map((verb) => (
              <th key={verb} scope="col">
                {verb}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {list.map((kind) => (
            <tr key={`${kind.group}/${kind.resource}`}>
              <td>
                <strong>{kind.kind}</strong> <small class="dim">{kind.group}</small>
              </td>
              {VERBS.map((verb) => (
                <td key={verb}>{kind.verbs.includes(verb) ? <Sign leave={of(kind, verb)} /> : null}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function OwnMatrix({ namespace, list }: { namespace: string; list: Kind[] }) {
  const found = useLoaded(() => readOwnRules(namespace), [namespace]);
  if (found.error !== null) return <Problem error={found.error} />;
  const rules = found.value;
  if (rules === null) return <Loading what="Asking the server" />;
  return <Matrix list={list} of={(kind, verb) => allows(rules.rules, kind, verb)} />;
}

function OtherMatrix({ namespace, user, groups, list }: { namespace: string; user: string; groups: string[]; list: Kind[] }) {
  const [found, setFound] = useState(new Map<string, Leave>());
  const [error, setError] = useState<Error | null>(null);
  useEffect(() => {
    const controller = new AbortController();
    const answers = new Map<string, Leave>();
    const queue = list.flatMap((kind) => VERBS.filter((verb) => kind.verbs.includes(verb)).map((verb) => ({ kind, verb })));
    const work = async (): Promise<void> => {
      for (let one = queue.shift(); one !== undefined && !controller.signal.aborted; one = queue.shift()) {
        const { allowed } = await reviewAccess({ user, groups: [...groups, "system:authenticated"] }, one.kind, one.verb, namespace, controller.signal);
        answers.set(`${one.kind.group}/${one.kind.resource}/${one.verb}`, allowed ? "yes" : "no");
        setFound(new Map(answers));
      }
    };
    Promise.all(Array.from({ length: AT_ONCE }, work)).catch((problem: unknown) => !controller.signal.aborted && setError(problem as Error));
    return () => controller.abort();
  }, [list.length]);
  if (error !== null) return <Problem error={error} />;
  return <Matrix list={list} of={(kind, verb) => found.get(`${kind.group}/${kind.resource}/${verb}`)} />;
}

function Refusals() {
  const now = useNow(5000);
  const list = refusals.value;
  return (
    <>
      <h2 class="section-title">Refused in this session</h2>
      {list.length === 0 ? (
        <Empty title="The server refused nothing" />
      ) : (
        <ul class="changes panel">
          {list.map((one) => (
            <li key={`${one.at}${one.path}`} class="change">
              <Badge tone="bad">{explainRefusal(one)}</Badge>
              <div class="change-text">
                <span>{one.message}</span>
                <small>
                  {one.method} {one.path.split("?")[0]} · {one.code} {one.reason}
                  {one.dryRun && " · dry run"}
                </small>
              </div>
              <time>{formatAge(new Date(one.at).toISOString(), now)}</time>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
