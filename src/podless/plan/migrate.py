"""The migration of `kubectl apply --server-side` for objects that were applied client-side.

Source: k8s.io/client-go util/csaupgrade and migrateToSSAIfNecessary of k8s.io/kubectl pkg/cmd/apply/apply.go
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from podless.fields import sets
from podless.fields.kubectl import LAST_APPLIED
from podless.plan.options import MANAGERS, SERVER_SIDE
from podless.plan.requests import APPLY, JSON_PATCH, Requester
from podless.runtime.jsonobject import Object

_RECORDER = "kubectl-last-applied"  # the manager that keeps the annotation, as kubectl names it


async def migrate_managers(asker: Requester, path: str, obj: Object, manager: str) -> bool:
    """Move the fields that client-side apply owned to `manager`. Returns whether there were any.

    obj: as the previous server-side apply left it. Raises Refused, RemoteError.
    """
    recorded = LAST_APPLIED in (obj["metadata"].get("annotations") or {})
    if recorded and manager == MANAGERS[SERVER_SIDE] and not _list_recorders(obj, "Apply"):
        obj = await _keep_record(asker, path, obj)
    entries = obj["metadata"].get("managedFields") or []
    upgraded = entries
    for old in _list_recorders(obj, "Update"):
        upgraded = _upgrade_entries(upgraded, old, manager)
    if upgraded == entries:
        return False
    patch = [
        {"op": "replace", "path": "/metadata/managedFields", "value": upgraded},
        {"op": "replace", "path": "/metadata/resourceVersion", "value": obj["metadata"]["resourceVersion"]},
    ]
    await asker.send_request("PATCH", path, patch, JSON_PATCH, fieldManager=manager)
    return True


def _list_recorders(obj: Object, operation: str) -> list[str]:
    """Return the managers that own the annotation by one of the operations Apply and Update."""
    entries = obj["metadata"].get("managedFields") or ()
    managers = [str(entry.get("manager")) for entry in entries if _is_by(entry, operation) and _owns_record(entry)]
    return list(dict.fromkeys(managers))


def _is_by(entry: Object, operation: str, manager: str | None = None) -> bool:
    by = entry.get("operation") == operation and not entry.get("subresource")
    return by and manager in (None, entry.get("manager"))


def _owns_record(entry: Object) -> bool:
    fields: Any = entry.get("fieldsV1") or {}
    for name in ("f:metadata", "f:annotations", f"f:{LAST_APPLIED}"):
        fields = fields.get(name) if isinstance(fields, dict) else None
    return fields is not None


async def _keep_record(asker: Requester, path: str, obj: Object) -> Object:
    """Give the last-applied annotation its own manager, so that it stays when `kubectl` no longer applies it."""
    metadata = obj["metadata"]
    namespace_field = {"namespace": metadata["namespace"]} if metadata.get("namespace") else {}
    annotations = {LAST_APPLIED: metadata["annotations"][LAST_APPLIED]}
    body = {
        "apiVersion": obj["apiVersion"],
        "kind": obj["kind"],
        "metadata": {"annotations": annotations, "name": metadata["name"], **namespace_field},
    }
    return (await asker.send_request("PATCH", path, body, APPLY, fieldManager=_RECORDER)).obj


def _upgrade_entries(entries: Sequence[Object], old: str, manager: str) -> list[Object]:
    """Return the entries with that of `old` merged into that of `manager`, or renamed to it."""
    updates = [entry for entry in entries if _is_by(entry, "Update", old)]
    other_entries = [entry for entry in entries if not _is_by(entry, "Update", old)]
    if not updates:
        return other_entries
    for index, entry in enumerate(other_entries):
        if _is_by(entry, "Apply", manager):
            fields = sets.parse_set(entry.get("fieldsV1") or {})
            for update in updates:
                if update.get("apiVersion") == entry.get("apiVersion"):
                    fields = sets.unite_sets(fields, sets.parse_set(update.get("fieldsV1") or {}))
                    break
            other_entries[index] = {**entry, "fieldsV1": fields}
            return other_entries
    return [{**updates[0], "manager": manager, "operation": "Apply"}, *other_entries]
