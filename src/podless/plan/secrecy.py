"""Keeps the data of Secrets out of all output of a plan."""

from __future__ import annotations

import base64
import binascii
import contextlib
import json
import re
from collections.abc import Iterator
from typing import Any

from podless.fields.kubectl import LAST_APPLIED
from podless.meta.field import Path
from podless.plan.manifests import Identity
from podless.runtime.jsonobject import Object

HIDDEN = "(secret)"
MESSAGE = f"{HIDDEN} the message may hold a value of the Secret, so it is not shown"
_FIELDS = ("data", "stringData")
# annotations with a copy of the whole object: of kubectl and many other tools, kapp, Rancher
_RECORDS = ("last-applied-configuration", "kapp.k14s.io/original", "objectset.rio.cattle.io/applied")
_SHORT_LENGTH = 3  # characters; shorter values count only as whole words
_REVEALING_LENGTH = (
    8  # a message with this many consecutive characters of a value shows a part of it: servers shorten long values
)


def holds_data(identity: Identity) -> bool:
    """Return whether an object is a Secret."""
    return identity.kind == "Secret" and not identity.group


def is_secret(identity: Identity, path: Path) -> bool:
    """Return whether a field holds data of a Secret."""
    if not holds_data(identity) or not path:
        return False
    return path[0] in _FIELDS or (path[0] == "metadata" and is_record(str(path[-1])))


def is_record(annotation: str) -> bool:
    """Return whether an annotation has a copy of the whole object."""
    return annotation == LAST_APPLIED or annotation.endswith(_RECORDS)


def hide_object(identity: Identity, obj: Object) -> Object:
    """Return an object without the data of a Secret."""
    if not holds_data(identity):
        return obj
    masked = dict(obj)
    for name in _FIELDS:
        if name in masked:
            data = masked[name]
            masked[name] = dict.fromkeys(data, HIDDEN) if isinstance(data, dict) else HIDDEN
    metadata = obj.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    if isinstance(metadata, dict) and isinstance(annotations, dict):
        hidden_annotations = {key: HIDDEN if is_record(str(key)) else value for key, value in annotations.items()}
        masked["metadata"] = {**metadata, "annotations": hidden_annotations}
    return masked


def hide_message(identity: Identity, text: str, *objects: Object | None) -> str:
    """Return a text about an object, or a replacement if it may contain one of the object's values.

    objects: all known states of the object.
    """
    if not holds_data(identity):
        return text
    forms = {form for obj in objects for name in _FIELDS for form in _list_forms((obj or {}).get(name))}
    return MESSAGE if any(_is_in(form, text) for form in forms) else text


def _is_in(form: str, text: str) -> bool:
    """Return whether a text contains a value, or a part of it."""
    if len(form) < _SHORT_LENGTH:
        return re.search(rf"(?<!\w){re.escape(form)}(?!\w)", text) is not None
    if form in text:
        return True
    runs = {text[at : at + _REVEALING_LENGTH] for at in range(len(text) - _REVEALING_LENGTH + 1)}
    return any(form[at : at + _REVEALING_LENGTH] in runs for at in range(len(form) - _REVEALING_LENGTH + 1))


def _list_forms(value: Any) -> Iterator[str]:
    """Yield the forms of a value in a message: unchanged, quoted, and with or without base64."""
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _list_forms(item)
        return
    if value is None or value == "":
        return
    if not isinstance(value, str):
        yield from {str(value), json.dumps(value), *((f"{value:g}",) if isinstance(value, float) else ())}
        return
    raw = value.encode("utf-8", "surrogatepass")
    texts = {value, base64.b64encode(raw).decode()}
    with contextlib.suppress(binascii.Error):
        texts.add(base64.b64decode(raw, validate=True).decode("utf-8", "replace"))
    for text in texts - {""}:
        yield text
        yield json.dumps(text)[1:-1]
        yield json.dumps(text, ensure_ascii=False)[1:-1]
