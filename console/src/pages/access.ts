/** Who may do what: reviews of the server, as a matrix. */
import type { Kind } from "../api/discovery";
import { get } from "../api/http";

export const VERBS = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];

interface Rule {
  verbs: string[];
  apiGroups?: string[];
  resources?: string[];
  resourceNames?: string[];
}

export interface Rules {
  rules: Rule[];
  incomplete: boolean;
}

/** What the user who is logged in may do in a namespace. */
export async function readOwnRules(namespace: string): Promise<Rules> {
  const body = {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SelfSubjectRulesReview",
    spec: { namespace: namespace || "default" },
  };
  const answer = await get<{ status: { resourceRules?: Rule[]; incomplete?: boolean } }>(
    "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
    { method: "POST", body },
  );
  return { rules: answer.status.resourceRules ?? [], incomplete: answer.status.incomplete ?? false };
}

const has = (list: string[] | undefined, wanted: string): boolean =>
  list?.some((one) => one === "*" || one === wanted) ?? false;

export type Leave = "yes" | "some" | "no";

/** Whether rules allow a verb on a kind: on all objects, on some by name, or not at all. */
export function allows(rules: Rule[], kind: Kind, verb: string): Leave {
  const fitting = rules.filter(
    (rule) => has(rule.verbs, verb) && has(rule.apiGroups, kind.group) && has(rule.resources, kind.resource),
  );
  if (fitting.some((rule) => (rule.resourceNames ?? []).length === 0)) return "yes";
  return fitting.length > 0 ? "some" : "no";
}

/** A user with groups; a group alone where user is "". */
export interface Subject {
  user: string;
  groups: string[];
}

export const nameSubject = (subject: Subject): string => subject.user || subject.groups.join(", ");

/** Subjects as a text for the address: lists of a user and groups. */
export const writeSubjects = (subjects: Subject[]): string =>
  subjects.length === 0 ? "" : JSON.stringify(subjects.map((one) => [one.user, ...one.groups]));

export function parseSubjects(text: string): Subject[] {
  try {
    const given = JSON.parse(text || "[]") as unknown;
    const found = (Array.isArray(given) ? given : []).filter(
      (one): one is string[] => Array.isArray(one) && one.length > 0 && one.every((part) => typeof part === "string"),
    );
    const subjects = found.map(([user = "", ...groups]) => ({ user, groups }));
    return subjects.filter(
      (one, place) => subjects.findIndex((other) => nameSubject(other) === nameSubject(one)) === place,
    );
  } catch {
    return [];
  }
}

/** The groups that the server gives a user when it logs in, and those given. */
function groupsOf(subject: Subject): string[] {
  const account = /^system:serviceaccount:([^:]+):[^:]+$/.exec(subject.user);
  const own = account === null ? [] : ["system:serviceaccounts", `system:serviceaccounts:${account[1]}`];
  return subject.user === "" ? subject.groups : [...subject.groups, ...own, "system:authenticated"];
}

async function reviewVerb(
  subject: Subject,
  kind: Kind,
  verb: string,
  namespace: string,
  signal: AbortSignal,
): Promise<boolean> {
  const resourceAttributes = {
    verb,
    group: kind.group,
    version: kind.version,
    resource: kind.resource,
    namespace: kind.namespaced ? namespace : "",
  };
  const body = {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SubjectAccessReview",
    spec: { user: subject.user || undefined, groups: groupsOf(subject), resourceAttributes },
  };
  const answer = await get<{ status: { allowed?: boolean } }>("/apis/authorization.k8s.io/v1/subjectaccessreviews", {
    method: "POST",
    body,
    signal,
    quiet: true,
  });
  return answer.status.allowed ?? false;
}

/** Ask which verbs of a kind a subject may use. A subject who may use all, now and in future, costs one request. */
export async function reviewKind(
  subject: Subject,
  kind: Kind,
  namespace: string,
  signal: AbortSignal,
): Promise<Set<string>> {
  const verbs = VERBS.filter((verb) => kind.verbs.includes(verb));
  if (await reviewVerb(subject, kind, "*", namespace, signal)) return new Set(verbs);
  const allowed = new Set<string>();
  for (const verb of verbs) if (await reviewVerb(subject, kind, verb, namespace, signal)) allowed.add(verb);
  return allowed;
}

const READS = ["get", "list", "watch"];

/** Say which verbs of a kind are allowed: all, read, or each by its name. */
export function describeVerbs(kind: Kind, allowed: Set<string>): string[] {
  const verbs = VERBS.filter((verb) => kind.verbs.includes(verb));
  if (verbs.length > 0 && verbs.every((verb) => allowed.has(verb))) return ["all"];
  const reads = verbs.filter((verb) => READS.includes(verb));
  const all = reads.length === READS.length && reads.every((verb) => allowed.has(verb));
  return [...(all ? ["read"] : []), ...verbs.filter((verb) => allowed.has(verb) && !(all && READS.includes(verb)))];
}
