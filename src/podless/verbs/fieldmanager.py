"""Computes managedFields for the objects that a request writes: connects calls to fields/managers.py."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from podless.fields import managers, scaling, sets, typed
from podless.fields.managers import Entry
from podless.fields.merge import WriteTarget
from podless.fields.sets import Fields
from podless.fields.typed import SchemaMisfit, Shape, schema_shape, struct_shape
from podless.kinds import conversion
from podless.kinds.kind import Kind, Version
from podless.runtime import clock
from podless.runtime.jsonobject import Object
from podless.structs import restore, structs
from podless.structs.structfiles import load_struct
from podless.verbs.call import Call

SCALE = load_struct("autoscaling/v1", "Scale")

_STATUS = sets.make_set(("f:status",))
_SCALE_TARGET = WriteTarget(
    version=scaling.SCALE,
    shapes={scaling.SCALE: struct_shape(SCALE)}.get,
    blank={"kind": "Scale", "apiVersion": scaling.SCALE, **structs.decode_struct(SCALE, {})},
    subresource="scale",
    custom=False,
)


def find_target(call: Call) -> WriteTarget:
    """Return the endpoint that a call writes to."""
    kind, version, subresource = call.kind, call.version, call.subresource
    if subresource == "scale":
        return _SCALE_TARGET
    result = kind.derive(("endpoint", version.name, subresource), _make_target, kind, version, subresource)
    if kind.webhook is not None:
        return replace(result, convert=partial(conversion.find_converted, kind, call.conversions))
    return result


def complete_kind(kind: Kind) -> None:
    """Compute all shapes that writes of a kind need."""
    versions = [version for version in kind.versions if kind.custom or kind.struct_of(version) is not None]
    for version in versions:
        subresources = [name for name in kind.list_subresources(version) if name != "scale"]
        for subresource in ("", *subresources):
            target = find_target(Call(kind, version, "", "", subresource))
            served_versions = (view.api_version(served) for view in kind.views for served in view.by_version)
            for name in {target.version, *served_versions}:
                shape = target.shapes(name)
                if shape is not None:
                    typed.complete_shape(shape)
    typed.complete_shape(struct_shape(SCALE))


def _make_target(kind: Kind, version: Version, subresource: str) -> WriteTarget:
    api_version = kind.api_version(version.name)
    head = {"kind": kind.kind, "apiVersion": api_version}
    convert = None
    if kind.struct is None:
        shapes = {kind.api_version(name): _find_shape(kind, served) for name, served in kind.by_version.items()}
        blank = head
    else:
        # a real server keeps the structs of the core group apart: a write of an Event in core/v1 finds no struct for
        # managers that wrote it in events.k8s.io/v1, and drops them
        views = {
            view.api_version(name): (view, served)
            for view in kind.views
            if bool(view.group) == bool(kind.group)
            for name, served in view.by_version.items()
        }
        structures = {name: view.struct_of(served) for name, (view, served) in views.items()}
        fields = {name: struct for name, struct in structures.items() if struct is not None}
        shapes = {name: struct_shape(struct) for name, struct in fields.items()}
        blank = {**structs.decode_struct(fields[api_version], {}), **head}
        convert = partial(_convert_merged, views) if len(shapes) > 1 else None
    reset = _list_reset_fields(kind, version, subresource)
    return WriteTarget(
        api_version, shapes.get, blank, subresource, reset, kind.custom, convert, kind.list_raw_fields(version)
    )


def _find_shape(kind: Kind, version: Version) -> Shape:
    """Return the shape of a custom kind's version. All endpoints share it: it is ten times as large as the schema."""
    return kind.derive(
        ("fields", version.name), lambda: schema_shape(kind.structural_schema(version, compiled=True), kind.preserve)
    )


def _convert_merged(kinds: dict[str, tuple[Kind, Version]], obj: Object, api_version: str) -> Object:
    """Convert the object to another version. Raises SchemaMisfit if the merged object does not fit the kind."""
    kind, version = kinds[api_version]
    try:
        return kind.strategy.convert_object(kind, version, obj)
    except structs.DecodeError as error:
        reason: Exception = error
        own_kind, own_version = kinds[obj["apiVersion"]]
        if (struct := own_kind.struct_of(own_version)) is not None:
            try:
                restore.restore_value(struct, obj)
            except restore.Misfit as misfit:
                reason = misfit
        action = f"unable to convert unstructured object to {managers.describe_type(obj)}"
        raise SchemaMisfit(f"{action}: {reason}") from None


def _list_reset_fields(kind: Kind, version: Version, subresource: str) -> dict[str, Fields]:
    """Return the paths that an endpoint does not change, by version. Source: apiextensions-apiserver's strategies."""
    if subresource == "status":
        names = [name for name, served in kind.by_version.items() if served.status]
        return dict.fromkeys(map(kind.api_version, names), _make_set(kind.strategy.status_resets))
    if resets := kind.strategy.for_subresource(subresource).reset_fields:
        return {kind.api_version(version.name): _make_set(resets)}
    return {kind.api_version(version.name): _STATUS} if version.status and subresource in ("", "finalize") else {}


def _make_set(paths: Iterable[tuple[str, ...]]) -> Fields:
    return sets.make_set(*(tuple(f"f:{name}" for name in path) for path in paths))


def set_fields_of_created(call: Call, obj: Object, manager: str) -> None:
    """Set the managedFields of a new object, which has its defaults, but no fields of the server yet.

    manager: the fieldManager parameter. obj still contains the managedFields that the client sent. If owners wrote in
    versions that only a webhook can convert, raises Unconverted and leaves obj unchanged.
    """
    metadata, strategy = obj["metadata"], call.kind.strategy
    managed_fields = metadata.get("managedFields")
    target, name, now = find_target(call), managers.find_manager_name(manager, call.agent), clock.now()
    new = strategy.unmark_object(obj) if strategy.marks else obj
    if managed_fields is None and target.custom:  # most new objects
        metadata.pop("managedFields", None)
        entries = managers.claim_created(target, new, name, now, schema_valid=call.schema_valid)
    else:
        try:
            entries = managers.update_managed_fields(target, None, new, name, now)
        except conversion.Unconverted:
            metadata["managedFields"] = managed_fields
            raise
    managers.put_managed_fields(metadata, entries)


def set_fields_of_changed(call: Call, old: Object, obj: Object, manager: str) -> None:
    """Set the managedFields of a changed object; see `set_fields_of_created`.

    old: the former object, in the call's version. Raises Unconverted as `set_fields_of_created` does.
    """
    name, now, strategy = managers.find_manager_name(manager, call.agent), clock.now(), call.kind.strategy
    new = strategy.unmark_object(obj) if strategy.marks else obj
    entries = managers.update_managed_fields(find_target(call), old, new, name, now, settled=is_settled(call, old))
    managers.put_managed_fields(obj["metadata"], entries)


def is_settled(call: Call, old: Object) -> bool:
    """Return whether the object and all owned fields fit the schema: it has not changed since the object was written.

    An object that was written in another version need not fit the schema of this one.
    """
    kind = call.kind
    return kind.custom and len(kind.versions) == 1 and int(old["metadata"].get("resourceVersion") or 0) > kind.changed


def set_fields_of_server_write(kind: Kind, old: Object, obj: Object, manager: str, subresource: str = "") -> None:
    """Record field owners as `set_fields_of_changed` does, for a write of the server itself in the storage version."""
    version = kind.by_version[kind.storage_version]
    set_fields_of_changed(Call(kind, version, "", "", subresource), old, obj, manager)


def list_entries_of_scaled(call: Call, old: Object, old_scale: Object, new_scale: Object, manager: str) -> list[Entry]:
    """Return the managedFields of an object whose Scale is changed.

    old: the former object. old_scale, new_scale: the former and the new Scale.
    """
    old_scale = {**old_scale, "metadata": {**old_scale["metadata"]}}
    managers.put_managed_fields(old_scale["metadata"], list_entries_of_scale(call, old))
    new_scale = {**new_scale, "metadata": {**(new_scale.get("metadata") or {})}}
    name = managers.find_manager_name(manager, call.agent)
    scale = managers.update_managed_fields(_SCALE_TARGET, old_scale, new_scale, name, clock.now())
    return list_entries_of_rescaled(call, old, scale)


def list_entries_of_rescaled(call: Call, old: Object, scale: list[Entry]) -> list[Entry]:
    """Return the managedFields of an object, given those that its Scale has after a write."""
    entries, paths = old["metadata"].get("managedFields"), _find_replica_paths(call.kind)
    return scaling.list_object_entries(entries, scale, call.api_version, paths, custom=call.kind.custom)


def list_entries_of_scale(call: Call, old: Object) -> list[Entry]:
    """Return the managedFields of the Scale of an object."""
    return scaling.list_scale_entries(old["metadata"].get("managedFields"), _find_replica_paths(call.kind))


def _find_replica_paths(kind: Kind) -> scaling.Paths:
    replica_paths: dict[str, sets.Path | None] = {}
    for name, version in kind.by_version.items():
        path = version.scale.spec_replicas_path.removeprefix(".").split(".") if version.scale else None
        replica_paths[kind.api_version(name)] = tuple(f"f:{step}" for step in path) if path else None
    return replica_paths
