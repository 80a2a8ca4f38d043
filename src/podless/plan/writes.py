"""Writes one object of a set as kubectl does: the requests of each mode, and their results.

Source: k8s.io/kubectl pkg/cmd/apply (apply.go, patcher.go), pkg/cmd/create, pkg/cmd/replace.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from podless.fields.kubectl import LAST_APPLIED
from podless.plan import threeway
from podless.plan.migrate import migrate_managers
from podless.plan.options import CLIENT_SIDE, CREATE, REPLACE, PlanOptions
from podless.plan.requests import APPLY, MERGE, STRATEGIC, Endpoint, Requester, RequestResult
from podless.remote.cluster import Refused
from podless.runtime.jsonobject import Object

_STRICT = {"fieldValidation": "Strict"}
_NO_RECORD = (
    "resource {plural}/{name} is missing the kubectl.kubernetes.io/last-applied-configuration annotation which is "
    "required by kubectl apply: fields that only an earlier version of the set has are kept"
)


class Unwritable(Exception):
    """kubectl does not send this object. The text is kubectl's."""


class PlannedWrite(NamedTuple):
    """The result of a write. obj: the object after it. warnings: of the server and of kubectl."""

    obj: Object
    warnings: tuple[str, ...]


async def read_object(asker: Requester, endpoint: Endpoint, namespace: str, name: str) -> Object | None:
    """Return an object, None if it does not exist. Raises Refused, RemoteError."""
    try:
        return (await asker.send_request("GET", endpoint.path(namespace, name))).obj
    except Refused as refused:
        if refused.code == 404:
            return None
        raise


async def write_object(
    asker: Requester,
    endpoint: Endpoint,
    obj: Object,
    before: Object | None,
    options: PlanOptions,
    *,
    guarded: bool = False,
) -> PlannedWrite:
    """Write an object as kubectl does in a mode.

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
    path = endpoint.path(namespace, name)
    if options.mode == CREATE:
        return _make_result(await asker.send_request("POST", endpoint.path(namespace), obj, **query))
    if options.mode == REPLACE:
        if before is not None and not metadata.get("resourceVersion"):
            obj = _at_revision(obj, before)
        return _make_result(await asker.send_request("PUT", path, obj, **query))
    if options.mode == CLIENT_SIDE:
        return await _apply_client_side(asker, endpoint, obj, before, query, guarded=guarded)
    forced = {"force": "true" if options.force else "false", **query}
    answered = await asker.send_request("PATCH", path, obj, APPLY, **forced)
    if before is not None and await migrate_managers(asker, path, answered.obj, options.field_manager):
        body = {**obj, "metadata": {key: value for key, value in metadata.items() if key != "resourceVersion"}}
        repeated = await asker.send_request("PATCH", path, body, APPLY, **forced)
        answered = RequestResult(repeated.obj, (*answered.warnings, *repeated.warnings))
    return _make_result(answered)


def _make_result(answered: RequestResult, *warnings: str) -> PlannedWrite:
    return PlannedWrite(answered.obj, tuple(dict.fromkeys((*warnings, *answered.warnings))))


def _at_revision(obj: Object, before: Object) -> Object:
    revision = before["metadata"]["resourceVersion"]
    return {**obj, "metadata": {**(obj.get("metadata") or {}), "resourceVersion": revision}}


def _prune_nulls(value: Any) -> Any:
    """Return a value without nulls in objects, which kubectl omits when it creates an object."""
    if isinstance(value, dict):
        return {key: _prune_nulls(item) for key, item in value.items() if item is not None}
    return [_prune_nulls(item) for item in value] if isinstance(value, list) else value


async def _apply_client_side(
    asker: Requester, endpoint: Endpoint, obj: Object, before: Object | None, query: dict[str, str], *, guarded: bool
) -> PlannedWrite:
    """Create the object, or patch it by its last-applied, current and wanted states."""
    metadata = obj.get("metadata") or {}
    namespace, name = str(metadata.get("namespace") or ""), str(metadata.get("name") or "")
    revision = metadata.get("resourceVersion") if guarded else None
    plain = {**obj, "metadata": {key: value for key, value in metadata.items() if key != "resourceVersion"}}
    annotated = threeway.annotate_applied(plain if guarded else obj)
    if before is None:
        return _make_result(
            await asker.send_request("POST", endpoint.path(namespace), _prune_nulls(annotated), **query)
        )
    warned = []
    if LAST_APPLIED not in (before["metadata"].get("annotations") or {}):
        warned.append(_NO_RECORD.format(plural=endpoint.plural, name=name))
    try:
        original = threeway.read_last_applied(before)
    except ValueError as error:
        raise Unwritable(f"the annotation {LAST_APPLIED} of the object is no JSON: {error}") from None
    struct = None
    if endpoint.known_kind is not None and not endpoint.known_kind.custom:
        version = endpoint.known_kind.by_version.get(endpoint.api_version.rpartition("/")[2])
        struct = endpoint.known_kind.struct_of(version) if version is not None else None
    if struct is not None:
        patch, media = threeway.make_strategic_patch(original, annotated, before, struct), STRATEGIC
    else:
        patch, media = threeway.make_merge_patch(original, annotated, before), MERGE
    if not patch:
        return PlannedWrite(before, tuple(warned))
    if revision is not None:
        patch = {**patch, "metadata": {**(patch.get("metadata") or {}), "resourceVersion": revision}}
    return _make_result(
        await asker.send_request("PATCH", endpoint.path(namespace, name), patch, media, **query), *warned
    )
