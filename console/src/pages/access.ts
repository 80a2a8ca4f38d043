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
  const body = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectRulesReview", spec: { namespace: namespace || "default" } };
  const answer = await get<{ status: { resourceRules?: Rule[]; incomplete?: boolean } }>("/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", { method: "POST", body });
  return { rules: answer.status.resourceRules ?? [], incomplete: answer.status.incomplete ?? false };
}

const has = (list: string[] | undefined, wanted: string): boolean => list?.some((one) => one === "*" || one === wanted) ?? false;

export type Leave = "yes" | "some" | "no";

/** Whether rules allow a verb on a kind: on all objects, on some by name, or not at all. */
export function allows(rules: Rule[], kind: Kind, verb: string): Leave {
  const fitting = rules.filter((rule) => has(rule.verbs, verb) && has(rule.apiGroups, kind.group) && has(rule.resources, kind.resource));
  if (fitting.some((rule) => (rule.resourceNames ?? []).length === 0)) return "yes";
  return fitting.length > 0 ? "some" : "no";
}

export interface Subject {
  user: string;
  groups: string[];
}

/** Ask whether somebody else may do something. */
export async function reviewAccess(subject: Subject, kind: Kind, verb: string, namespace: string, signal: AbortSignal): Promise<{ allowed: boolean; reason: string }> {
  const resourceAttributes = { verb, group: kind.group, version: kind.version, resource: kind.resource, namespace: kind.namespaced ? namespace : "" };
  const body = { apiVersion: "authorization.k8s.io/v1", kind: "SubjectAccessReview", spec: { user: subject.user, groups: subject.groups, resourceAttributes } };
  const answer = await get<{ status: { allowed?: boolean; reason?: string } }>("/apis/authorization.k8s.io/v1/subjectaccessreviews", { method: "POST", body, signal });
  return { allowed: answer.status.allowed ?? false, reason: answer.status.reason ?? "" };
}
