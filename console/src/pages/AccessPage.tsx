/** Who may do what, and which requests of this session were rejected. */
import { useState } from "preact/hooks";
import { isBuiltin, type Kind, kinds } from "../api/discovery";
import { formatAge } from "../logic/time";
import { explainRefusal, refusals } from "../state/refusals";
import { route, setQuery } from "../state/route";
import { NamespacePicker } from "../ui/NamespacePicker";
import { Badge, Button, Empty, useNow } from "../ui/parts";
import { OwnMatrix, SubjectMatrix, UsersMatrix } from "./AccessMatrix";
import { nameSubject, parseSubjects, type Subject, writeSubjects } from "./access";
import { SubjectPicker } from "./SubjectPicker";
import "../styles/definitions.css";

const SHOWN = ["configmaps", "secrets", "namespaces", "events", "serviceaccounts"]; // of the built-in kinds

function shownKinds(all: boolean): Kind[] {
  const found = kinds.value.filter(
    (kind) => kind.preferred && (all || !isBuiltin(kind.group) || (kind.group === "" && SHOWN.includes(kind.resource))),
  );
  return [...found].sort(
    (a, b) => Number(isBuiltin(a.group)) - Number(isBuiltin(b.group)) || (a.kind < b.kind ? -1 : 1),
  );
}

function sayWhose(subjects: Subject[]): string {
  const [first] = subjects;
  if (first === undefined) return "What you may do";
  return subjects.length === 1 ? `What ${nameSubject(first)} may do` : `What you and ${subjects.length} others may do`;
}

export function AccessPage() {
  const namespace = route.value.query["ns"] ?? "default";
  const who = route.value.query["who"] ?? "";
  const subjects = parseSubjects(who);
  const [first] = subjects;
  const [all, setAll] = useState(false);
  const list = shownKinds(all);
  const change = (next: Subject[]): void => setQuery({ who: writeSubjects(next) });
  return (
    <section class="page">
      <header class="page-head">
        <div class="titles">
          <h1>Access</h1>
          <p class="dim">
            {sayWhose(subjects)} in the namespace {namespace}
          </p>
        </div>
      </header>
      <div class="filters">
        <NamespacePicker value={namespace} all={false} onPick={(ns) => setQuery({ ns })} />
        <SubjectPicker onAdd={(one) => change([...subjects, one])} />
        <Button pressed={all} onClick={() => setAll(!all)}>
          All kinds
        </Button>
      </div>
      {subjects.length > 0 && (
        <ul class="subjects" aria-label="Users">
          {subjects.map((one, place) => (
            <li key={nameSubject(one)} class="subject">
              <strong>{nameSubject(one)}</strong>
              {one.user !== "" && one.groups.length > 0 && <small class="dim">{one.groups.join(", ")}</small>}
              <Button
                icon="close"
                kind="plain"
                label={`Remove ${nameSubject(one)}`}
                onClick={() => change(subjects.filter((_, other) => other !== place))}
              />
            </li>
          ))}
        </ul>
      )}
      {first === undefined ? (
        <OwnMatrix namespace={namespace} list={list} />
      ) : subjects.length === 1 ? (
        <SubjectMatrix key={who + namespace} namespace={namespace} subject={first} list={list} />
      ) : (
        <UsersMatrix key={who + namespace} namespace={namespace} subjects={subjects} list={list} />
      )}
      <Refusals />
    </section>
  );
}

function Refusals() {
  const now = useNow(5000);
  const list = refusals.value;
  return (
    <>
      <h2 class="section-title">Rejected in this session</h2>
      {list.length === 0 ? (
        <Empty title="The server rejected nothing" />
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
