"""Reads the changes in the audit log of a kube-apiserver.

Source: the type Event of audit.k8s.io/v1. Only events at level RequestResponse have the object as the write left it.
"""

from __future__ import annotations

from datetime import datetime
from enum import Enum
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import orjson

from podless.history.change import read_audit_id
from podless.runtime.jsonobject import Object
from podless.store.contract import Author
from podless.store.keys import OWN, ResourceKeys, StoredValue, encode_foreign

_VERSIONS = ("audit.k8s.io/v1",)
_WRITES = {"create": "create", "update": "update", "patch": "patch", "delete": "delete"}
_DELETE_COLLECTION = "deletecollection"
_MAX_DIGITS = 18  # maximum digits of a resourceVersion
_MAX_MANAGER = 128  # maximum characters of a field manager


class BadEvent(Exception):
    """A line is not an audit event; the text says why."""


class Skipped(Enum):
    """The reasons for which events are not imported. The values are texts that follow a number."""

    READ = "reads"
    STAGE = "of another stage than ResponseComplete"
    FAILED = "failed requests"
    DRY_RUN = "dry runs"
    LEVEL = "without the object (the audit policy must use level RequestResponse)"
    OTHER = "that do not answer with a stored object"


class AuditChange(NamedTuple):
    """One change of one object.

    stored: the new state, None for a delete. revision: 0 if the event lacks it. at: milliseconds since 1970.
    """

    key: str
    stored: StoredValue | None
    revision: int
    creates: bool
    at: int
    author: Author


def read_event(line: bytes) -> list[AuditChange] | Skipped:
    """Return the changes that an event of an audit log made. Raises BadEvent."""
    try:
        event = orjson.loads(line)
    except ValueError:
        raise BadEvent("not JSON") from None
    if not isinstance(event, dict) or event.get("kind") != "Event" or event.get("apiVersion") not in _VERSIONS:
        raise BadEvent("not an Event of audit.k8s.io/v1")
    verb = _read_text(event, "verb")
    if verb not in _WRITES and verb != _DELETE_COLLECTION:
        return Skipped.READ
    if _read_text(event, "stage") != "ResponseComplete":
        return Skipped.STAGE
    code = _read_object(event, "responseStatus").get("code", 0)
    if not isinstance(code, int) or code >= 300:
        return Skipped.FAILED
    query = parse_qs(urlsplit(_read_text(event, "requestURI")).query, max_num_fields=100)
    if "dryRun" in query:
        return Skipped.DRY_RUN
    response = event.get("responseObject")
    if not isinstance(response, dict):
        return Skipped.LEVEL
    at, author = _read_time(event), _read_author(event, verb, query)
    changes = _read_objects(_read_object(event, "objectRef"), response, verb)
    if not changes:
        return Skipped.OTHER
    return [
        AuditChange(key, stored, revision, verb == "create" and not author.subresource, at, author)
        for key, stored, revision in changes
    ]


def _read_objects(reference: Object, response: Object, verb: str) -> list[tuple[str, StoredValue | None, int]]:
    """Return keys, states and revisions. Raises BadEvent."""
    group, resource = _read_text(reference, "apiGroup"), _read_text(reference, "resource")
    namespace, subresource = _read_text(reference, "namespace"), _read_text(reference, "subresource")
    keys_ = ResourceKeys.of(group, resource, namespaced=bool(namespace))
    if verb == _DELETE_COLLECTION:
        items = response.get("items")
        kind = {"apiVersion": response.get("apiVersion"), "kind": _read_text(response, "kind").removesuffix("List")}
        objects = [kind | item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
    else:
        objects = [response]
    changes = []
    for obj in objects:
        metadata = _read_object(obj, "metadata")
        name = _read_text(metadata, "name") or _read_text(reference, "name")
        if verb == "delete" and not subresource and obj.get("kind") == "Status" and resource and name:
            name = _read_text(reference, "name")
        elif _read_text(obj, "apiVersion").rpartition("/")[0] != group or not _read_text(metadata, "resourceVersion"):
            continue  # another kind, such as a Scale, or an object that is not stored
        key = _check_key(keys_.key(namespace, name), group, resource, namespace, name)
        revision = _read_revision(metadata)
        goes = verb in ("delete", _DELETE_COLLECTION) and not subresource and not _is_only_marked(obj, metadata)
        changes.append((key, None if goes else _encode_object(obj), revision))
    return changes


def _is_only_marked(obj: Object, metadata: Object) -> bool:
    """Return whether a delete has only marked the object."""
    if obj.get("kind") == "Status" or not metadata.get("deletionTimestamp"):
        return False
    return bool(metadata.get("finalizers")) or bool(metadata.get("deletionGracePeriodSeconds"))


def _encode_object(obj: Object) -> StoredValue:
    try:
        return encode_foreign(obj)
    except (ValueError, TypeError, LookupError):
        raise BadEvent("responseObject cannot be stored") from None


def _check_key(key: str, *names: str) -> str:
    """Return the key. Raises BadEvent if no object can have it."""
    if any("/" in name or "\0" in name for name in names) or not names[1] or not names[3] or key.startswith(OWN):
        raise BadEvent("objectRef does not name an object")
    return key


def _read_revision(metadata: Object) -> int:
    text = _read_text(metadata, "resourceVersion")
    if not text:
        return 0
    if not text.isascii() or not text.isdigit() or len(text) > _MAX_DIGITS:
        raise BadEvent(f"resourceVersion {text[:40]!r} is not a number")
    return int(text)


def _read_time(event: Object) -> int:
    text = _read_text(event, "stageTimestamp") or _read_text(event, "requestReceivedTimestamp")
    try:
        at = int(datetime.fromisoformat(text).timestamp() * 1000)
    except (ValueError, OverflowError):
        at = -1
    if at < 0:
        raise BadEvent(f"stageTimestamp {text[:40]!r} is not a time")
    return at


def _read_author(event: Object, verb: str, query: dict[str, list[str]]) -> Author:
    user = _read_text(_read_object(event, "user"), "username")
    impersonated = _read_text(_read_object(event, "impersonatedUser"), "username")
    agent, subresource = _read_text(event, "userAgent"), _read_text(_read_object(event, "objectRef"), "subresource")
    manager = (query.get("fieldManager") or [""])[0]
    if not manager and verb in ("create", "update", "patch"):
        manager = agent.partition("/")[0]  # as kube-apiserver derives it
    names = (impersonated or user, user if impersonated else "", verb, subresource, manager[:_MAX_MANAGER], agent)
    return Author(*names, read_audit_id(_read_text(event, "auditID")))


def _read_text(obj: Any, name: str) -> str:
    """Return a text, "" for none. Raises BadEvent."""
    value = obj.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise BadEvent(f"{name} is not a text")
    return value


def _read_object(obj: Object, name: str) -> Object:
    value = obj.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise BadEvent(f"{name} is not an object")
    return value
