"""Writes one object of a set as kubectl does: the requests of each mode, and their results.

Source: k8s.io/kubectl pkg/cmd/apply (apply.go, patcher.go), pkg/cmd/create, pkg/cmd/replace.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from podless.fields import sets
from podless.fields.kubectl import LAST_APPLIED
from podless.fields.patches import APPLY, JSON_PATCH, MERGE, STRATEGIC
from podless.plan import threeway
from podless.plan.options import CLIENT_SIDE, CREATE, MANAGERS, REPLACE, SERVER_SIDE, PlanOptions
from podless.plan.requests import BUILT_IN, RequestResult, SendRequest
from podless.remote.cluster import Refused
from podless.remote.resources import APIResource
from podless.runtime.jsonobject import Object

_RECORDER = "kubectl-last-applied"  # the manager that keeps the annotation, as kubectl names it
_STRICT = {"fieldValidation": "Strict"}
_NO_RECORD = (
    "resource {plural}/{name} is missing the kubectl.kubernetes.io/last-applied-configuration annotation which is "
    "required by kubectl apply: fields that only an earlier version of the set has are kept"
)


class Unwritable(Exception):
    """kubectl does not send this object. The text is kubectl's."""


async def read_object(send: SendRequest, resource: APIResource, namespace: str, name: str) -> Object | None:
    """Return an object, None if it does not exist. Raises Refused, RemoteError."""
    try:
        return (await send("GET", resource.path(namespace, name))).obj
    except Refused as refused:
        if refused.code == 404:
            return None
        raise


async def write_object(
    send: SendRequest,
    resource: APIResource,
    obj: Object,
    before: Object | None,
    options: PlanOptions,
    *,
    guarded: bool = False,
) -> RequestResult:
    """Write an object as kubectl does in a mode. The result has also the warnings of kubectl.

    obj: with its namespace. before: the object in the API. guarded: reject the write if the object is no longer in this
    state. Raises Unwritable, Refused, RemoteError.
    """
    metadata = obj.get("metadata") or {}
    namespace, name = str(metadata.get("namespace") or ""), str(metadata.get("name") or "")
    if not name and options.mode != CREATE:
        prefix = metadata.get("generateName")
        raise Unwritable(
            f"from {prefix}: cannot use generate name with {'replace' if options.mode == REPLACE else 'apply'}"
            if prefix
            else "resource name may not be empty"
        )
    if guarded and before is not None and options.mode != CREATE:
        obj = _at_revision(obj, before)
    query = {"fieldManager": options.field_manager, **_STRICT}
    path = resource.path(namespace, name)
    if options.mode == CREATE:
        return _make_result(await send("POST", resource.path(namespace), obj, **query))
    if options.mode == REPLACE:
        if before is not None and not metadata.get("resourceVersion"):
            obj = _at_revision(obj, before)
        return _make_result(await send("PUT", path, obj, **query))
    if options.mode == CLIENT_SIDE:
        return await _apply_client_side(send, resource, obj, before, query, guarded=guarded)
    forced = {"force": "true" if options.force else "false", **query}
    answered = await send("PATCH", path, obj, APPLY.media, **forced)
    if before is not None and await migrate_managers(send, path, answered.obj, options.field_manager):
        body = {**obj, "metadata": {key: value for key, value in metadata.items() if key != "resourceVersion"}}
        repeated = await send("PATCH", path, body, APPLY.media, **forced)
        answered = RequestResult(repeated.obj, (*answered.warnings, *repeated.warnings))
    return _make_result(answered)


def _make_result(answered: RequestResult, *warnings: str) -> RequestResult:
    return RequestResult(answered.obj, tuple(dict.fromkeys((*warnings, *answered.warnings))))


def _at_revision(obj: Object, before: Object) -> Object:
    revision = before["metadata"]["resourceVersion"]
    return {**obj, "metadata": {**(obj.get("metadata") or {}), "resourceVersion": revision}}


def _prune_nulls(value: Any) -> Any:
    """Return a value without nulls in objects, which kubectl omits when it creates an object."""
    if isinstance(value, dict):
        return {key: _prune_nulls(item) for key, item in value.items() if item is not None}
    return [_prune_nulls(item) for item in value] if isinstance(value, list) else value


async def _apply_client_side(
    send: SendRequest,
    resource: APIResource,
    obj: Object,
    before: Object | None,
    query: dict[str, str],
    *,
    guarded: bool,
) -> RequestResult:
    """Create the object, or patch it by its last-applied, current and wanted states."""
    metadata = obj.get("metadata") or {}
    namespace, name = str(metadata.get("namespace") or ""), str(metadata.get("name") or "")
    revision = metadata.get("resourceVersion") if guarded else None
    plain = {**obj, "metadata": {key: value for key, value in metadata.items() if key != "resourceVersion"}}
    annotated = threeway.annotate_applied(plain if guarded else obj)
    if before is None:
        return _make_result(await send("POST", resource.path(namespace), _prune_nulls(annotated), **query))
    warned = []
    if LAST_APPLIED not in (before["metadata"].get("annotations") or {}):
        warned.append(_NO_RECORD.format(plural=resource.plural, name=name))
    try:
        original = threeway.read_last_applied(before)
    except ValueError as error:
        raise Unwritable(f"the annotation {LAST_APPLIED} of the object is no JSON: {error}") from None
    kind = BUILT_IN.get((resource.api_version, resource.kind))
    struct = kind.struct_of(kind.by_version[resource.version]) if kind is not None else None
    patch = threeway.make_patch(original, annotated, before, struct)
    if not patch:
        return RequestResult(before, tuple(warned))
    if revision is not None:
        patch = {**patch, "metadata": {**(patch.get("metadata") or {}), "resourceVersion": revision}}
    media = (MERGE if struct is None else STRATEGIC).media
    return _make_result(await send("PATCH", resource.path(namespace, name), patch, media, **query), *warned)


async def migrate_managers(send: SendRequest, path: str, obj: Object, manager: str) -> bool:
    """Move the fields that client-side apply owned to `manager`. Returns whether there were any.

    obj: as the previous server-side apply left it. Raises Refused, RemoteError.
    """
    recorded = LAST_APPLIED in (obj["metadata"].get("annotations") or {})
    if recorded and manager == MANAGERS[SERVER_SIDE] and not _list_recorders(obj, "Apply"):
        obj = await _keep_record(send, path, obj)
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
    await send("PATCH", path, patch, JSON_PATCH.media, fieldManager=manager)
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


async def _keep_record(send: SendRequest, path: str, obj: Object) -> Object:
    """Give the last-applied annotation its own manager, so that it stays when `kubectl` no longer applies it."""
    metadata = obj["metadata"]
    namespace_field = {"namespace": metadata["namespace"]} if metadata.get("namespace") else {}
    annotations = {LAST_APPLIED: metadata["annotations"][LAST_APPLIED]}
    body = {
        "apiVersion": obj["apiVersion"],
        "kind": obj["kind"],
        "metadata": {"annotations": annotations, "name": metadata["name"], **namespace_field},
    }
    return (await send("PATCH", path, body, APPLY.media, fieldManager=_RECORDER)).obj


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
