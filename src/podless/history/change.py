"""The kind Change of history.podless.dev: the user, the object, the time, and the changed fields. It is not stored."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

import orjson

from podless.codec import serializer
from podless.runtime import lazy
from podless.runtime.jsonobject import Object
from podless.runtime.meter import charge, each_part
from podless.store import Record, StoredValue, keys
from podless.store.contract import Author, ChangeLog, LoggedWrite

if TYPE_CHECKING:
    from podless.history import difference
    from podless.kinds.kind import Kind
else:
    difference = lazy.LateModule("podless.history.difference")

GROUP, VERSION = "history.podless.dev", "v1"
API_VERSION = f"{GROUP}/{VERSION}"
CREATE, UPDATE, DELETE = "create", "update", "delete"
_STEP_BYTES = 64  # bytes that count as one step
_PATHS_SHOWN = 3  # changed paths in a summary


def make_history_kind() -> Kind:
    """Return the kind, which is declared like a custom kind."""
    from podless.kinds.fromdefinition import compile_kind  # a slow import that commands do not need

    definition = serializer.decode_yaml(Path(__file__).with_name("change.yaml").read_bytes())
    kind = compile_kind(definition, serializer.encode_json(definition))
    return replace(kind, verbs=("get", "list", "watch"), hashed=False)


class ChangedObject(NamedTuple):
    """The object that a key belongs to."""

    group: str
    resource: str
    namespace: str
    name: str


def place_of(key: str, *, namespaced: bool | None) -> ChangedObject:
    """Return the object that a key belongs to. namespaced: whether its kind is, None if unknown."""
    group, resource = keys.resource_of(key)
    path = key.split("/", 3)[3]
    namespace, slash, name = path.partition("/")
    if not slash or namespaced is False:
        return ChangedObject(group, resource, "", path)
    return ChangedObject(group, resource, namespace, name)


def operation_of(written: LoggedWrite) -> str:
    """Return create, update or delete."""
    if written.stored is None:
        return DELETE
    return CREATE if written.created == written.revision else UPDATE


async def find_replaced(log: ChangeLog, written: LoggedWrite) -> Record | None:
    """Return the state that a change replaced; None if there was none, or it is no longer known. Raises StoreError."""
    if written.replaced is not None or operation_of(written) == CREATE:
        return written.replaced
    earlier = await log.read_key(written.key, written.sequence, limit=1)
    return earlier[0].record if earlier else None


def decode_state(stored: StoredValue, revision: int) -> Object:
    """Return the object that was stored."""
    charge(len(stored.data) // _STEP_BYTES)
    obj: Object = orjson.loads(stored.with_revision(revision))
    return obj


def format_time(at: int) -> str:
    """Return a time in milliseconds as RFC 3339 with microseconds, as Kubernetes' MicroTime has it."""
    return datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def make_change(
    written: LoggedWrite, before: Record | None, changed_object: ChangedObject, *, state: bool = False
) -> Object:
    """Return a change as an object of the API.

    before: the state that it replaced; None if there was none, or it is no longer known. state: include the object as
    the change left it; for a delete, as it was before.
    """
    operation = operation_of(written)
    new = decode_state(written.stored, written.revision) if written.stored is not None else None
    old = None
    if operation != CREATE and before is not None:
        old = decode_state(before.stored, before.revision)
    obj = new or old or {}
    change: Object = {
        "apiVersion": API_VERSION,
        "kind": "Change",
        "metadata": _make_metadata(written, changed_object),
        "operation": operation,
        "revision": written.revision,
        "time": format_time(written.at),
        "object": {
            "apiVersion": obj.get("apiVersion", changed_object.group),
            "kind": obj.get("kind", ""),
            "group": changed_object.group,
            "resource": changed_object.resource,
            "namespace": changed_object.namespace,
            "name": changed_object.name,
            "uid": obj.get("metadata", {}).get("uid", ""),
        },
        "author": show_author(written.author),
    }
    if operation != CREATE and before is not None:
        change["previousRevision"] = before.revision
    if operation == UPDATE and old is not None:
        change["fields"] = [
            {"path": changed.field} | _show_value("before", changed.before) | _show_value("after", changed.after)
            for part in each_part(difference.compare_objects(old, new))
            for changed in part
        ]
        change["summary"] = summarize_fields(change["fields"])
    if state and obj:
        change["state"] = obj
    return change


def _make_metadata(written: LoggedWrite, changed_object: ChangedObject) -> Object:
    metadata: Object = {
        "name": str(written.sequence),
        "creationTimestamp": datetime.fromtimestamp(written.at // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "resourceVersion": str(written.revision),
    }
    return metadata | {"namespace": changed_object.namespace} if changed_object.namespace else metadata


def _show_value(name: str, value: Any) -> dict[str, Any]:
    return {} if value is difference.ABSENT else {name: value}


def summarize_fields(fields: list[Object]) -> str:
    """Return the paths of the fields that differ in one line, without the generation, which follows from the others."""
    paths = [field["path"] for field in fields]
    paths = [path for path in paths if path != "metadata.generation"] or paths
    suffix = f", +{len(paths) - _PATHS_SHOWN}" if len(paths) > _PATHS_SHOWN else ""
    return ", ".join(paths[:_PATHS_SHOWN]) + suffix


def read_audit_id(text: str) -> bytes:
    """Return an audit ID as an Author has it; b"" for one that is no UUID, which a client can send."""
    try:
        return UUID(text).bytes
    except ValueError:
        return b""


def show_author(author: Author) -> Object:
    """Return an author as the API shows it, without unknown parts."""
    author_ = {
        "user": author.user,
        "impersonatedBy": author.sender,
        "verb": author.verb,
        "subresource": author.subresource,
        "fieldManager": author.manager,
        "userAgent": author.agent,
        "auditID": str(UUID(bytes=author.audit)) if author.audit else "",
    }
    return {name: value for name, value in author_.items() if value}
