"""Requests that the stand-ins make as clients; they pass admission."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from podless.apis.core.group import EVENTS
from podless.auth.user import SERVER
from podless.codec import serializer
from podless.kinds.kind import Kind
from podless.meta.errors import APIError, Conflict, NotFound
from podless.runtime import clock
from podless.runtime.jsonobject import Object
from podless.verbs import create, delete, patch
from podless.verbs.call import API, Call

_JSON, _MERGE = "application/json", "application/merge-patch+json"
_MAX_MESSAGE = 1024  # maximum bytes of an event's message
_MANAGED: Mapping[str, Sequence[str]] = {"fieldManager": ["podless"]}


def _make_call(kind: Kind, metadata: Object, name: str, body: Object, media: str, subresource: str = "") -> Call:
    namespace, version = metadata.get("namespace", ""), kind.by_version[kind.storage_version]
    query = _MANAGED if media == _MERGE or not name else {}
    encoded = serializer.encode_json(body)
    return Call(kind, version, namespace, name, subresource, query, encoded, media, SERVER, "podless")


async def create_object(api: API, kind: Kind, obj: Object) -> Object:
    """Create an object, and return it. Raises APIError."""
    head = {"apiVersion": kind.api_version(kind.storage_version), "kind": kind.kind}
    created = await create.create_object(api, _make_call(kind, obj["metadata"], "", {**head, **obj}, _JSON))
    assert created.entry is not None
    return created.entry.decode()


async def patch_object(api: API, kind: Kind, obj: Object, changes: Object, subresource: str = "") -> None:
    """Change an object, unless it does not exist. Raises APIError."""
    metadata = obj["metadata"]
    changes = {**changes, "metadata": {**changes.get("metadata", {}), "uid": metadata["uid"]}}
    with suppress(NotFound, Conflict):  # deleted, or replaced by another object with its name
        await patch.patch_object(api, _make_call(kind, metadata, metadata["name"], changes, _MERGE, subresource))


async def report_status(api: API, kind: Kind, obj: Object, status: Object, metadata: Object | None = None) -> None:
    """Write an object's status if it changes. Raises APIError.

    metadata: changes of it; a write of the status does not increase the generation.
    """
    before = obj.get("status") or {}
    changes = {name: value for name, value in status.items() if before.get(name) != value}
    if changes or metadata:
        await patch_object(api, kind, obj, {"metadata": metadata or {}, "status": changes}, "status")


async def delete_object(api: API, kind: Kind, obj: Object, **options: Any) -> None:
    """Delete an object, unless it does not exist. Raises APIError."""
    metadata = obj["metadata"]
    delete_options = {"propagationPolicy": "Background", "preconditions": {"uid": metadata["uid"]}, **options}
    with suppress(NotFound, Conflict):
        await delete.delete_object(api, _make_call(kind, metadata, metadata["name"], delete_options, _JSON))


async def record_event(
    api: API, kind: Kind, obj: Object, reason: str, message: str, source: str, *, warning: bool = False
) -> None:
    """Record a Normal or Warning event about an object. Errors are ignored.

    If it repeats, only its count grows; the message of a warning can differ then.
    """
    metadata, now, repeated = obj["metadata"], clock.now(), reason if warning else f"{reason} {message}"
    digest = hashlib.sha256(f"{metadata['uid']} {repeated}".encode()).hexdigest()[:16]
    name, namespace = f"{metadata['name']}.{digest}", metadata.get("namespace") or "default"
    message = message.encode()[:_MAX_MESSAGE].decode(errors="ignore")
    reference = {"kind": kind.kind, "apiVersion": kind.api_version(kind.storage_version)}
    reference |= {key: metadata[key] for key in ("namespace", "name", "uid", "resourceVersion") if key in metadata}
    with suppress(APIError):
        entry = (await api.load_collection(EVENTS)).get(EVENTS.key(namespace, name))
        if entry is not None:
            event = entry.decode()
            count = {"count": (event.get("count") or 0) + 1, "lastTimestamp": now, "message": message}
            return await patch_object(api, EVENTS, event, count)
        head = {"name": name, "namespace": namespace}
        details = {
            "type": "Warning" if warning else "Normal",
            "reason": reason,
            "message": message,
            "source": {"component": source},
        }
        times = {"firstTimestamp": now, "lastTimestamp": now, "count": 1, "reportingComponent": source}
        await create_object(api, EVENTS, {"metadata": head, "involvedObject": reference, **details, **times})
    return None
