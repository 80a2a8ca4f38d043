"""Checks who may request admin access to devices, allocate them to claims, and write their status.

Errors are reported together with those of validation. Source: Kubernetes' pkg/registry/resource.
"""

from __future__ import annotations

from collections.abc import Sequence

from podless.admission.attributes import CREATE, AdmissionAttributes
from podless.admission.plugin import Plugin
from podless.apis.resource.group import RESOURCE_CLAIM_TEMPLATES, RESOURCE_CLAIMS
from podless.apis.resource.requests import device_key
from podless.auth.authorizer import AccessDenied, Attributes
from podless.auth.user import User, parse_account
from podless.kinds.kind import Kind
from podless.meta import field, names
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object

_LABEL = "resource.kubernetes.io/admin-access"
_ADMIN = f"admin access to devices requires the `{_LABEL}: true` label on the containing namespace"
_NODE = "authentication.kubernetes.io/node-name"
_STATUS = "status"
_PREFIXES = {kind.prefix for kind in (RESOURCE_CLAIMS, RESOURCE_CLAIM_TEMPLATES)}
_ANY_NODE, _OWN_NODE = "arbitrary-node:", "associated-node:"


class DeviceAccessCheck(Plugin):
    """Checks ResourceClaims and ResourceClaimTemplates."""

    def allocates(self, operation: str, kind: Kind, subresource: str) -> bool:
        return kind.prefix in _PREFIXES and (operation == CREATE or subresource == _STATUS)

    async def allocate(self, attr: AdmissionAttributes) -> None:
        """Record the fields that the user may not write."""
        assert attr.obj is not None
        if attr.subresource != _STATUS:
            attr.refuse_fields(await self._check_admin(attr.namespace, _find_request(attr.obj)))
            return
        assert attr.old is not None
        kind, user = attr.kind, attr.user
        target = (attr.subresource, attr.namespace, attr.name)
        attributes = Attributes(attr.verb, kind.group, attr.version.name, kind.plural, *target)
        status, before = attr.obj.get("status") or {}, attr.old.get("status") or {}
        if not _find_grant(before):
            attr.refuse_fields(await self._check_admin(attr.namespace, _find_grant(status)))
        attr.refuse_fields(self._check_binding(user, attributes, status, before))
        attr.refuse_fields(self._check_drivers(user, attributes, status, before))

    async def _check_admin(self, namespace: str, path: str) -> list[FieldError]:
        """Reject admin access in namespaces without the label for it. path: the field that requests it, or ""."""
        if not path:
            return []
        entry = await self._state.load_namespace(namespace)
        if entry is None:
            reason = f'could not retrieve namespace to verify admin access: namespaces "{namespace}" not found'
            return [field.internal(path, reason)]
        return [] if entry.labels.get(_LABEL) == "true" else [field.forbidden(path, _ADMIN)]

    def _check_binding(self, user: User, attributes: Attributes, status: Object, before: Object) -> field.Errors:
        """Require the permission for resourceclaims/binding to change allocation or reservedFor."""
        if all(status.get(name) == before.get(name) for name in ("allocation", "reservedFor")):
            return
        wrong = self._explain_denial(user, attributes._replace(subresource="binding", namespace="", name=""))
        if wrong:
            permission = f'resource="resourceclaims/binding", verb="{attributes.verb}"'
            reason = f"changing status.allocation or status.reservedFor requires {permission} permission: {wrong}"
            yield field.forbidden("status.allocation", reason)

    def _check_drivers(self, user: User, attributes: Attributes, status: Object, before: Object) -> field.Errors:
        """Require the permission for resourceclaims/driver of each driver whose devices change."""
        if status.get("allocation") is None:
            return
        changed = _list_changed(status.get("devices") or [], before.get("devices") or [])
        if not changed:
            return
        prefixes = (_OWN_NODE, _ANY_NODE) if _is_on_node(user, status["allocation"]) else (_ANY_NODE,)
        verbs = [f"{prefix}{attributes.verb}" for prefix in prefixes]
        for driver in changed:
            wrong = [
                self._explain_denial(user, attributes._replace(verb=verb, subresource="driver", name=driver))
                for verb in verbs
            ]
            if all(wrong):
                permission = f'resource="resourceclaims/driver", verb="[{" ".join(verbs)}]"'
                yield field.forbidden(
                    "status.devices", f"changing status.devices requires {permission} permission: {wrong[0]}"
                )

    def _explain_denial(self, user: User, attributes: Attributes) -> str:
        """Return why the user may not do this, or ""."""
        decision = self._authorizer.decide(user, attributes)
        if decision.allowed:
            return ""
        reason = ": ".join(filter(None, (decision.error, decision.reason)))
        return str(AccessDenied(user, attributes, reason))


def _find_request(obj: Object) -> str:
    """Return the path of a request with admin access, or "". Templates have the same paths as claims."""
    spec = obj["spec"]
    devices = spec.get("spec", spec).get("devices") or {}
    for index, request in enumerate(devices.get("requests") or ()):
        if (request.get("exactly") or {}).get("adminAccess"):
            return f"spec.devices.requests[{index}].adminAccess"
    return ""


def _find_grant(status: Object) -> str:
    """Return the path of a result with admin access, or ""."""
    devices = (status.get("allocation") or {}).get("devices") or {}
    for index, result in enumerate(devices.get("results") or ()):
        if result.get("adminAccess"):
            return f"status.allocation.devices.results[{index}].adminAccess"
    return ""


def _list_changed(devices: Sequence[Object], before: Sequence[Object]) -> list[str]:
    """Return the sorted names of the drivers whose device status has changed."""
    old_devices, drivers = {device_key(device): device for device in before}, set[str]()
    for device in devices:
        if old_devices.pop(device_key(device), None) != device:
            drivers.add(device["driver"])
    return sorted(drivers | {device["driver"] for device in old_devices.values()})


def _is_on_node(user: User, allocation: Object) -> bool:
    """Return whether the user is a service account on the only node that has the devices."""
    node, user_nodes = _find_node(allocation), user.extra.get(_NODE, ())
    return (
        bool(node)
        and parse_account(user.name) is not None
        and tuple(user_nodes) == (node,)
        and not names.check_subdomain(node)
    )


def _find_node(allocation: Object) -> str:
    """Return the only node that a selector selects by name, "" for other selectors."""
    terms = (allocation.get("nodeSelector") or {}).get("nodeSelectorTerms") or []
    if len(terms) != 1 or terms[0].get("matchExpressions") or len(terms[0].get("matchFields") or ()) != 1:
        return ""
    (only,) = terms[0]["matchFields"]
    values = only.get("values") or []
    by_name = only["key"] == "metadata.name" and only["operator"] == "In" and len(values) == 1
    return str(values[0]) if by_name else ""
