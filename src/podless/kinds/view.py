"""Shows stored objects in a version: the stored bytes if possible, otherwise a converted copy."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from operator import attrgetter

import orjson

from podless.cache.entry import Entry
from podless.codec import serializer
from podless.kinds.kind import Kind, Version
from podless.runtime.collector import pause_gc
from podless.runtime.jsonobject import Object
from podless.runtime.memo import is_off_loop
from podless.runtime.meter import charge
from podless.store.keys import StoredValue
from podless.structs import structs
from podless.structs.structfiles import load_struct

OBJECT_META = load_struct("meta/v1", "ObjectMeta")


# placeholder for the revision while an object is encoded; clients cannot send it
_MARK = f"revision-{secrets.token_hex(16)}"
_MARK_BYTES = _MARK.encode()
_SHORT_BODY = 1 << 12  # bytes; decoding as many takes about 10 us, and needs no charge
_READ, _DECODED = 32, 64  # bytes per step on the meter: for reading through a schema, and for decoding or encoding
_LONG_BODY = 1 << 16  # bytes; the garbage collector would scan a longer object for too long
_AWAKE = nullcontext()
_REVISION, _BODY = attrgetter("revision"), attrgetter("body")


def encode_object(kind: Kind, obj: Object) -> StoredValue:
    """Return the stored form of an object."""
    metadata = {**obj["metadata"], "resourceVersion": _MARK}
    metadata.pop("selfLink", None)  # only the answer of a dry run shows it
    if kind.strategy.ordered:
        body = serializer.encode_json(arrange_object(kind, {**obj, "metadata": _order_metadata(metadata)}))
    else:
        body = serializer.encode_sorted({**obj, "metadata": metadata})
    offset = body.index(_MARK_BYTES)
    linked = "ownerReferences" in metadata or "deletionTimestamp" in metadata
    return StoredValue(body[:offset] + body[offset + len(_MARK_BYTES) :], offset, linked)


def arrange_object(kind: Kind, obj: Object) -> Object:
    """Return the object in the field order of its structs, if the kind's rules can change the order."""
    if not kind.strategy.rearranged or kind.struct is None:
        return obj
    return structs.arrange_fields(kind.struct, obj)


def show_unstored(kind: Kind, version: Version, obj: Object) -> Object:
    """Return an object that is not stored (dry run, deleted) with its fields in stored order."""
    metadata = obj.get("metadata")
    if metadata is None or not kind.strategy.ordered:
        return obj
    obj = {**obj, "metadata": _order_metadata(metadata) | metadata}
    struct = kind.struct_of(version)
    return structs.arrange_fields(struct, obj) if kind.strategy.rearranged and struct is not None else obj


_FIELDS = tuple(known.name for known in OBJECT_META.fields)


def _order_metadata(metadata: Object) -> Object:
    """Return metadata in the field order of ObjectMeta."""
    return {name: metadata[name] for name in _FIELDS if name in metadata}


def is_direct(kind: Kind, version: Version, entry: Entry) -> bool:
    """Return whether this version shows the stored bytes: they were written in it, under the present kind."""
    return version.name == kind.storage_version and entry.revision > kind.changed and kind.reads_as_stored


def find_indirect(kind: Kind, version: Version, entries: Sequence[Entry], oldest: int = 0) -> Sequence[Entry]:
    """Return the entries that are not direct. Does not loop in Python over long lists, which have few of them.

    oldest: no entry was written before this revision.
    """
    if version.name != kind.storage_version or not kind.reads_as_stored:
        return entries
    changed = kind.changed
    if oldest > changed:
        return ()
    if min(map(_REVISION, entries), default=changed + 1) > changed:
        return ()
    return [entry for entry in entries if entry.revision <= changed]


def stored_version(kind: Kind, entry: Entry) -> str:
    """Return the name of the version that an entry is stored in."""
    head = b'{"apiVersion":"'
    if entry.body.startswith(head):  # sorted keys start with apiVersion, except in unusual objects
        api_version = entry.body[len(head) : entry.body.index(b'"', len(head))].decode()
    else:
        api_version = entry.decode()["apiVersion"]
    return api_version.rpartition("/")[2]


def known_body(kind: Kind, version: Version, entry: Entry) -> bytes | None:
    """Return the object's JSON in one version if it is cached."""
    if is_direct(kind, version, entry):
        return entry.body
    result: bytes | None = entry.forms.get((kind.group, version.name, kind.changed))
    return result


def keep_body(kind: Kind, version: Version, entry: Entry, obj: Object) -> bytes:
    """Cache the form of an entry in a version until its definition changes (on the loop only), and return it."""
    body = encode_form(kind, obj)
    charge(len(body) // _DECODED)
    return body if is_off_loop() else cache_body(kind, version, entry, body)


def encode_form(kind: Kind, obj: Object) -> bytes:
    """Encode an object in one of its versions."""
    return serializer.fit_bytes(serializer.encode_json(obj) if kind.strategy.ordered else serializer.encode_sorted(obj))


def cache_body(kind: Kind, version: Version, entry: Entry, body: bytes) -> bytes:
    """Cache the JSON of an entry in a version until its definition changes, and return it. On the loop only."""
    if body == entry.body:
        body = entry.body  # most changes of a definition leave an object unchanged: share its bytes
    # requests that began before the definition changed still need the forms of the earlier kind
    present = sorted({form[-1] for form in entry.forms if type(form) is tuple} | {kind.changed})
    for form in [form for form in entry.forms if form[-1] not in (*present[-2:], kind.changed)]:
        del entry.forms[form]
    entry.forms[kind.group, version.name, kind.changed] = body
    return body


def carry_bodies(kind: Kind, version: Version, entry: Entry, later: Entry) -> None:
    """Copy the forms that a webhook converted to an entry with the same state at another revision."""
    if not is_direct(kind, version, later) and (body := known_body(kind, version, entry)) is not None:
        obj = serializer.decode_json(body)
        obj["metadata"]["resourceVersion"] = str(later.revision)
        keep_body(kind, version, later, obj)


def encode_body(kind: Kind, version: Version, entry: Entry) -> bytes:
    """Return the object's JSON in one version, converted once for each state, version and change of the kind.

    Raises Internal if a webhook call is needed (conversion.ready makes it).
    """
    body = known_body(kind, version, entry)
    if body is not None:
        return body
    with pause_collector(entry):
        return keep_body(kind, version, entry, _read_as_version(kind, version, entry))


def _read_as_version(kind: Kind, version: Version, entry: Entry) -> Object:
    """Return the object as the schema or struct of a version shows it."""
    charge(len(entry.body) // _READ)
    return kind.strategy.read_stored(kind, version, entry.decode())


def load_object(kind: Kind, version: Version, entry: Entry) -> Object:
    """Return a decoded copy of the object in one version. Raises as `encode_body`."""
    body = known_body(kind, version, entry)
    if body is None:
        return _read_as_version(kind, version, entry)
    if len(body) > _SHORT_BODY:
        charge(len(body) // _DECODED)
    loaded: Object = orjson.loads(body)
    return loaded


def load_inner(kind: Kind, version: Version, entry: Entry) -> Object:
    """Return the decoded object for tables and PartialObjectMetadata.

    For built-in kinds it has the stored version, whichever version was requested. Raises as `encode_body`.
    """
    if kind.custom:
        return load_object(kind, version, entry)
    obj = load_object(kind, kind.by_version.get(kind.storage_version, version), entry)
    return kind.strategy.show_partial(obj)


def type_prefix(kind: Kind, version: Version) -> bytes:
    """Return the prefix (kind and apiVersion) that a list's items of a built-in kind lack."""
    if not kind.strategy.ordered:
        return b""
    return f'{{"kind":"{kind.kind}","apiVersion":"{kind.api_version(version.name)}",'.encode()


def pause_collector(entry: Entry) -> AbstractContextManager[None]:
    """Pause the garbage collector while a long entry is decoded and used. It would scan the object several times."""
    return pause_gc() if len(entry.body) >= _LONG_BODY else _AWAKE


def encode_item(kind: Kind, version: Version, entry: Entry) -> bytes:
    """Return the object as an item of a list."""
    body, head = encode_body(kind, version, entry), type_prefix(kind, version)
    return b"{" + body[len(head) :] if head and body.startswith(head) else body


def encode_bodies(kind: Kind, version: Version, entries: Sequence[Entry], oldest: int = 0) -> list[bytes]:
    """Encode several entries, as `encode_body` does. oldest: no entry was written before this revision."""
    if find_indirect(kind, version, entries, oldest):
        return [encode_body(kind, version, entry) for entry in entries]
    return list(map(_BODY, entries))


def copy_object(obj: Object) -> Object:
    """Return a deep copy of decoded JSON."""
    copied: Object = serializer.copy_value(obj)
    return copied
