"""The kind Change of history.podless.dev, declared like a custom kind. Its objects are not stored."""

from __future__ import annotations

from dataclasses import replace

from podless.codec import serializer
from podless.history.change import GROUP, VERSION
from podless.kinds.compile import compile_kind
from podless.kinds.kind import Kind
from podless.runtime.jsonobject import Object

_NAMES = {"plural": "history", "singular": "change", "kind": "Change", "listKind": "ChangeList"}
VERBS = ("get", "list", "watch")
_COLUMNS = (
    ("Operation", ".operation", 0),
    ("Resource", ".object.resource", 0),
    ("Object", ".object.name", 0),
    ("User", ".author.user", 0),
    ("Manager", ".author.fieldManager", 0),
    ("Fields", ".summary", 0),
    ("Agent", ".author.userAgent", 1),
)
_SELECTABLE = (
    ".object.group",
    ".object.resource",
    ".object.name",
    ".object.kind",
    ".object.uid",
    ".operation",
    ".author.user",
    ".author.fieldManager",
)


_ANYTHING = {"x-kubernetes-preserve-unknown-fields": True}
_OBJECT = {
    "apiVersion": "The version that it is stored in.",
    "kind": "Its kind.",
    "group": 'Its API group, "" for the core group.',
    "resource": "Its resource, such as configmaps.",
    "namespace": "Its namespace.",
    "name": "Its name.",
    "uid": "Its uid.",
}
_AUTHOR = {
    "user": "The user in whose name the change was made.",
    "impersonatedBy": "The user that authenticated, where it impersonated another one.",
    "verb": "The verb of the request; apply for a server-side apply. Absent for changes of the server itself.",
    "subresource": "The subresource that was written.",
    "fieldManager": "The field manager.",
    "userAgent": "The User-Agent.",
    "auditID": "The audit ID of the request, where the server writes an audit log.",
}
_FIELD = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "The field, such as spec.containers[name=app].image."},
        "before": {**_ANYTHING, "description": "Its value before; absent for a new field."},
        "after": {**_ANYTHING, "description": "Its value since; absent for a removed field."},
    },
}


def _make_texts(description: str, fields: dict[str, str]) -> Object:
    """Return the schema of an object with texts. fields: the description of each."""
    properties = {name: {"type": "string", "description": text} for name, text in fields.items()}
    return {"type": "object", "description": description, "properties": properties}


def _make_schema() -> Object:
    author = "The user and the request that made the change. Fields are absent where that is not known."
    return {
        "type": "object",
        "description": "One change of one object. The server records changes; they are read-only.",
        "properties": {
            "operation": {"type": "string", "enum": ["create", "update", "delete"]},
            "revision": {"type": "integer", "format": "int64", "description": "The resourceVersion of the new state."},
            "previousRevision": {
                "type": "integer",
                "format": "int64",
                "description": "The resourceVersion of the state before; absent where it is not known.",
            },
            "time": {"type": "string", "format": "date-time"},
            "object": _make_texts("The object that was changed.", _OBJECT),
            "author": _make_texts(author, _AUTHOR),
            "summary": {"type": "string", "description": "The changed fields in one line."},
            "fields": {"type": "array", "description": "What an update changed.", "items": _FIELD},
            "state": {
                "type": "object",
                "description": "The object after the change, of a delete before it; only where one change is read.",
                **_ANYTHING,
            },
        },
    }


def make_history_kind() -> Kind:
    """Return the kind."""
    columns = [
        {"name": name, "type": "string", "jsonPath": path, "priority": priority} for name, path, priority in _COLUMNS
    ]
    columns.append({"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp", "priority": 0})
    version = {
        "name": VERSION,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": _make_schema()},
        "additionalPrinterColumns": columns,
        "selectableFields": [{"jsonPath": path} for path in _SELECTABLE],
    }
    schema_root = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{_NAMES['plural']}.{GROUP}"},
        "spec": {"group": GROUP, "scope": "Namespaced", "names": _NAMES, "versions": [version]},
    }
    return replace(compile_kind(schema_root, serializer.encode_json(schema_root)), verbs=VERBS, hashed=False)
