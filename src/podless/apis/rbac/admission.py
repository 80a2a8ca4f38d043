"""Prevents privilege escalation: a user cannot create or bind a role with permissions that the user lacks.

Users with the verb `escalate` on roles, or `bind` on a role, need not have its permissions. The plugin runs after all
mutating ones. Source: "Privilege escalation prevention and bootstrapping" of the Kubernetes documentation, and recorded
answers.
"""

from __future__ import annotations

from collections.abc import Sequence

from podless.admission.attributes import CREATE, UPDATE, AdmissionAttributes
from podless.admission.plugin import Plugin
from podless.apis.rbac.rbac import GROUP
from podless.auth import rules
from podless.auth.authorizer import Attributes, PolicyRule
from podless.codec.gotext import quote
from podless.kinds.kind import Kind
from podless.meta.errors import Forbidden, NotFound
from podless.runtime.jsonobject import Object

_ALL_RESOURCES: PolicyRule = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
_ALL_PATHS: PolicyRule = {"verbs": ["*"], "nonResourceURLs": ["*"]}
_AGGREGATES = "must have cluster-admin privileges to use the aggregationRule"
_ROLES = {"Role": "roles", "ClusterRole": "clusterroles"}


class EscalationCheck(Plugin):
    """Compares the granted permissions with those of the writer."""

    def mutates(self, operation: str, kind: Kind, subresource: str, namespace: str) -> bool:
        return kind.group == GROUP and operation in (CREATE, UPDATE)

    async def mutate(self, attr: AdmissionAttributes) -> None:
        """Raise Forbidden for escalation, or NotFound for a missing role of a binding."""
        obj = attr.obj
        if attr.user.is_master or obj is None or attr.is_unchanged:
            return
        if "roleRef" in obj:
            self._check_binding(attr, obj["roleRef"])
        else:
            self._check_role(attr, obj)

    def _check_role(self, attr: AdmissionAttributes, obj: Object) -> None:
        kind = attr.kind
        attributes = Attributes("escalate", GROUP, "", kind.plural, "", attr.namespace, attr.name)
        if self._authorizer.is_allowed(attr.user, attributes):
            return
        self._check_rights(attr, obj.get("rules") or [])
        if _is_aggregated(obj) or _is_aggregated(attr.old or {}):
            # the rules that it will aggregate are unknown, so it requires all permissions
            missing, _ = self._authorizer.find_missing_rules(attr.user, attr.namespace, (_ALL_RESOURCES, _ALL_PATHS))
            if missing:
                raise Forbidden(kind.plural, GROUP, obj["metadata"].get("name") or "", _AGGREGATES)

    def _check_binding(self, attr: AdmissionAttributes, ref: Object) -> None:
        name, resource = ref["name"], _ROLES.get(ref["kind"])
        if resource is None:
            return  # invalid; validation reports it
        attributes = Attributes("bind", ref["apiGroup"], "", resource, "", attr.namespace, name)
        if self._authorizer.is_allowed(attr.user, attributes):
            return
        granted = self._authorizer.find_role(ref["kind"], name, attr.namespace)
        if granted is None:
            raise NotFound(attr.kind.plural, GROUP, name)
        self._check_rights(attr, granted)

    def _check_rights(self, attr: AdmissionAttributes, granted: Sequence[PolicyRule]) -> None:
        user = attr.user
        missing, errors = self._authorizer.find_missing_rules(user, attr.namespace, granted)
        if not missing:
            return
        rule_texts = "\n".join(sorted({rules.format_rule(rule) for rule in missing}))
        user_text = f"user {quote(user.name)} (groups={rules.quote_strings(user.groups)})"
        text = f"{user_text} is attempting to grant RBAC permissions not currently held:\n{rule_texts}"
        if errors:
            text += f"; resolution errors: [{rules.join_errors(errors)}]"
        raise Forbidden(attr.kind.plural, GROUP, (attr.obj or {})["metadata"].get("name") or "", text)


def _is_aggregated(role: Object) -> bool:
    return bool((role.get("aggregationRule") or {}).get("clusterRoleSelectors"))
