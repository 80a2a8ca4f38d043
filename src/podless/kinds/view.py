"""Stored objects as a version shows them: the stored bytes wherever they will do, a converted copy where not."""

from __future__ import annotations

import secrets
from typing import Any

from podless.cache.entry import Entry
from podless.kinds.kind import Kind, Version
from podless.meta import codec
from podless.meta.structs_meta import OBJECT_META

Object = dict[str, Any]

# stands for the revision while an object is encoded; no client can know it
_MARK = f"revision-{secrets.token_hex(16)}"
_MARK_BYTES = _MARK.encode()


def encode(kind: Kind, obj: Object) -> tuple[bytes, int]:
    """The object as it is stored: its bytes, and the offset at which the revision belongs."""
    metadata = obj["metadata"]
    kept = metadata.get("resourceVersion")
    metadata["resourceVersion"] = _MARK
    if kind.rules.ordered:
        obj["metadata"] = _ordered(metadata)
        body = codec.encode(obj)
    else:
        body = codec.encode_sorted(obj)
    if kept is None:
        del metadata["resourceVersion"]
    else:
        metadata["resourceVersion"] = kept
    mark = body.index(_MARK_BYTES)
    return body[:mark] + body[mark + len(_MARK_BYTES) :], mark


_FIELDS = tuple(known.name for known in OBJECT_META.fields)


def _ordered(metadata: Object) -> Object:
    """Metadata in the field order of ObjectMeta."""
    return {name: metadata[name] for name in _FIELDS if name in metadata}


def direct(kind: Kind, version: Version, entry: Entry) -> bool:
    """Whether the stored bytes are what this version shows: written as this version under the kind as it stands."""
    return version.name == kind.storage_version and entry.revision > kind.changed


def body(kind: Kind, version: Version, entry: Entry) -> bytes:
    """The object's JSON in one version. Converted at most once for each state, version and change of the kind."""
    if direct(kind, version, entry):
        return entry.body
    form = (kind.group, version.name, kind.changed)
    known = entry.forms.get(form)
    if known is None:
        obj = kind.rules.read(kind, version, entry.decode())
        known = codec.encode(obj) if kind.rules.ordered else codec.encode_sorted(obj)
        entry.forms[form] = known
    return bytes(known)


def load(kind: Kind, version: Version, entry: Entry) -> Object:
    """The object in one version, decoded: a fresh copy, for those who change it or look inside."""
    if direct(kind, version, entry):
        return entry.decode()
    return kind.rules.read(kind, version, entry.decode())


def item(kind: Kind, version: Version, entry: Entry) -> bytes:
    """The object as an item of a list: built-in kinds leave out what the list itself says."""
    whole = body(kind, version, entry)
    if kind.rules.ordered:
        head = f'{{"kind":"{kind.kind}","apiVersion":"{kind.api_version(version.name)}",'.encode()
        if whole.startswith(head):
            return b"{" + whole[len(head) :]
    return whole


def copy(obj: Object) -> Object:
    """A deep copy of decoded JSON."""
    copied: Object = codec.decode_json(codec.encode(obj))
    return copied
