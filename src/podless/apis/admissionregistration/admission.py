"""Checks that the writer of an admission policy may read its parameters.

Source: k8s.io/kubernetes pkg/registry/admissionregistration (authz).
"""

from __future__ import annotations

from podless.admission.attributes import CREATE, UPDATE, AdmissionAttributes
from podless.admission.configuration import MissingConfiguration, find_kind
from podless.admission.plugin import Plugin
from podless.apis.admissionregistration.group import (
    MUTATING_BINDINGS,
    MUTATING_POLICIES,
    VALIDATING_BINDINGS,
    VALIDATING_POLICIES,
)
from podless.auth.authorizer import Attributes
from podless.auth.user import User
from podless.kinds.kind import Kind
from podless.meta import field
from podless.meta.errors import Invalid
from podless.runtime.jsonobject import Object

_POLICIES = {kind.plural: kind for kind in (VALIDATING_POLICIES, MUTATING_POLICIES)}
_BOUND = {VALIDATING_BINDINGS.plural: VALIDATING_POLICIES, MUTATING_BINDINGS.plural: MUTATING_POLICIES}


class ParameterAccessCheck(Plugin):
    """Checks a policy's paramKind and a binding's paramRef when they are new or changed."""

    def validates(self, operation: str, kind: Kind, subresource: str) -> bool:
        if kind.group != VALIDATING_POLICIES.group or subresource or operation not in (CREATE, UPDATE):
            return False
        return kind.plural in _POLICIES or kind.plural in _BOUND

    async def validate(self, attr: AdmissionAttributes) -> None:
        obj, user = attr.obj, attr.user
        if obj is None or user.is_master:
            return
        spec, old = obj["spec"], (attr.old or {}).get("spec") or {}
        if attr.kind.plural in _POLICIES:
            param = spec.get("paramKind")
            if param is not None and param != old.get("paramKind") and not self._is_allowed(user, param, "*", "*"):
                named = f"(kind={param['kind']}, apiVersion={param['apiVersion']})"
                reason = f'must have "get" permission on all objects of the referenced paramKind {named}'
                raise _make_refusal(attr, "paramKind", reason)
            return
        param = spec.get("paramRef")
        if param is None or (param == old.get("paramRef") and spec["policyName"] == old.get("policyName")):
            return
        kind = await self._find_param_kind(_BOUND[attr.kind.plural], spec["policyName"])
        if not self._is_allowed(user, kind, param.get("namespace") or "", param.get("name") or ""):
            raise _make_refusal(attr, "paramRef", 'does not have "get" permission on the object referenced by paramRef')

    async def _find_param_kind(self, kind: Kind, policy: str) -> Object | None:
        entry = (await self._state.load_collection(kind)).get(kind.key("", policy))
        return entry.decode()["spec"].get("paramKind") if entry is not None else None

    def _is_allowed(self, user: User, param_kind: Object | None, namespace: str, name: str) -> bool:
        """Return whether the user may get objects of a paramKind; if the kind is unknown, of all kinds."""
        group, version, resource = "*", "*", "*"
        if param_kind is not None:
            group, _, version = param_kind["apiVersion"].rpartition("/")
            try:
                resource = find_kind(self._state, param_kind)[0].plural
            except MissingConfiguration:
                resource = "*"
        attributes = Attributes("get", group, version, resource, "", namespace, name)
        return self._authorizer.is_allowed(user, attributes)


def _make_refusal(attr: AdmissionAttributes, field_name: str, reason: str) -> Invalid:
    error = field.forbidden(f"spec.{field_name}", f"user {_format_user(attr.user)} {reason}")
    return Invalid(attr.kind.kind, attr.kind.group, attr.name, [error])


def _format_user(user: User) -> str:
    """Format a user as Go prints the struct."""
    extra = " ".join(f"{key}:[{' '.join(values)}]" for key, values in sorted(user.extra.items()))
    return f"&{{{user.name} {user.uid} [{' '.join(user.groups)}] map[{extra}]}}"
