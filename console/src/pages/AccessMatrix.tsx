/** Access as matrices: of kinds and verbs for one user, of kinds and users for several. */
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { apiVersionOf, type Kind } from "../api/discovery";
import { ApiError } from "../api/http";
import { Icon } from "../ui/Icon";
import { Badge, Loading, Problem, useLoaded } from "../ui/parts";
import {
  allows,
  describeVerbs,
  type Leave,
  nameSubject,
  readOwnRules,
  reviewKind,
  type Subject,
  VERBS,
} from "./access";

const AT_ONCE = 4;
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

function Matrix({
  list,
  columns,
  cell,
}: {
  list: Kind[];
  columns: string[];
  cell: (kind: Kind, column: number) => ComponentChildren;
}) {
  return (
    <div class="table-box static matrix" tabIndex={0} role="region" aria-label="Access">
      <table>
        <thead>
          <tr>
            <th scope="col">Kind</th>
            {columns.map((one) => (
              <th key={one} scope="col">
                {one}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {list.map((kind) => (
            <tr key={`${kind.group}/${kind.resource}`}>
              <th scope="row">
                <strong>{kind.kind}</strong> <small class="dim">{kind.group}</small>
              </th>
              {columns.map((one, place) => (
                <td key={one}>{cell(kind, place)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function VerbMatrix({ list, of }: { list: Kind[]; of: (kind: Kind, verb: string) => Leave | undefined }) {
  return (
    <Matrix
      list={list}
      columns={VERBS}
      cell={(kind, column) => {
        const verb = VERBS[column] as string;
        return kind.verbs.includes(verb) ? <Sign leave={of(kind, verb)} /> : null;
      }}
    />
  );
}

export function OwnMatrix({ namespace, list }: { namespace: string; list: Kind[] }) {
  const found = useLoaded(() => readOwnRules(namespace), [namespace]);
  if (found.error !== null) return <Problem error={found.error} />;
  const rules = found.value;
  if (rules === null) return <Loading what="Asking the server" />;
  return <VerbMatrix list={list} of={(kind, verb) => allows(rules.rules, kind, verb)} />;
}

type Answers = Map<string, Set<string>>; // the allowed verbs, by subject and kind

const keyOf = (subject: Subject, kind: Kind): string =>
  `${nameSubject(subject)} ${apiVersionOf(kind)} ${kind.resource}`;

/** Ask the server what others may do, kind by kind. */
function useReviews(namespace: string, subjects: Subject[], list: Kind[]): { answers: Answers; error: Error | null } {
  const [answers, setAnswers] = useState<Answers>(new Map());
  const [error, setError] = useState<Error | null>(null);
  useEffect(() => {
    const controller = new AbortController();
    const found: Answers = new Map();
    const queue = list.flatMap((kind) => subjects.map((subject) => ({ kind, subject })));
    const work = async (): Promise<void> => {
      for (let one = queue.shift(); one !== undefined && !controller.signal.aborted; one = queue.shift()) {
        found.set(keyOf(one.subject, one.kind), await reviewKind(one.subject, one.kind, namespace, controller.signal));
        setAnswers(new Map(found));
      }
    };
    Promise.all(Array.from({ length: AT_ONCE }, work)).catch((problem: unknown) => {
      if (!controller.signal.aborted) setError(problem as Error);
      controller.abort();
    });
    return () => controller.abort();
  }, [list.length]);
  return { answers, error };
}

function Refused({ error }: { error: Error }) {
  return (
    <Problem
      error={error}
      title={error instanceof ApiError && error.code === 403 ? "You may not ask what other users may do" : undefined}
    />
  );
}

export function SubjectMatrix({ namespace, subject, list }: { namespace: string; subject: Subject; list: Kind[] }) {
  const { answers, error } = useReviews(namespace, [subject], list);
  if (error !== null) return <Refused error={error} />;
  return (
    <VerbMatrix
      list={list}
      of={(kind, verb) => {
        const verbs = answers.get(keyOf(subject, kind));
        return verbs === undefined ? undefined : verbs.has(verb) ? "yes" : "no";
      }}
    />
  );
}

function Verbs({ kind, verbs }: { kind: Kind; verbs: Set<string> | undefined }) {
  if (verbs === undefined) return <span class="dim">…</span>;
  const told = describeVerbs(kind, verbs);
  if (told.length === 0) return <Sign leave="no" />;
  return (
    <span class="verbs" title={[...verbs].join(", ")}>
      {told.map((one) => (
        <Badge key={one} tone={one === "all" ? "good" : "none"}>
          {one}
        </Badge>
      ))}
    </span>
  );
}

/** The reader and several others: what each may do with each kind. */
export function UsersMatrix({ namespace, subjects, list }: { namespace: string; subjects: Subject[]; list: Kind[] }) {
  const { answers, error } = useReviews(namespace, subjects, list);
  const own = useLoaded(() => readOwnRules(namespace), [namespace]).value;
  if (error !== null) return <Refused error={error} />;
  return (
    <Matrix
      list={list}
      columns={["You", ...subjects.map(nameSubject)]}
      cell={(kind, column) => {
        const subject = subjects[column - 1];
        const verbs =
          subject === undefined
            ? own &&
              new Set(VERBS.filter((verb) => kind.verbs.includes(verb) && allows(own.rules, kind, verb) === "yes"))
            : answers.get(keyOf(subject, kind));
        return <Verbs kind={kind} verbs={verbs ?? undefined} />;
      }}
    />
  );
}
