"""Reads objects that other Kubernetes releases have stored.

kube-apiserver decodes built-in objects from etcd into its own Go structs. They drop unknown fields and write fields
that they always have. The stored bytes stay unchanged until the object is written. Fields whose gate is off are read:
only writes that add them drop them (structs/gated.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from podless.apis import catalog
from podless.apis.features import DEFAULT
from podless.codec import serializer
from podless.kinds import view
from podless.kinds.kind import Kind
from podless.runtime.release import Release
from podless.store import Operation, Record, RevisionConflict, Store, StoredValue, StoreError, keys
from podless.store.contract import read_record
from podless.structs import structs
from podless.structs.structfiles import in_release

# the releases that have written to the store: one, or the oldest and the newest
KEY: Final = f"{keys.OWN}releases/kubernetes"
Read = Callable[[Record], Record]


async def note_release(store: Store, release: Release) -> Read | None:
    """Record that a release writes to the store. Return its function for reading objects, None if it is the only one.

    A store without a record was written by the default release. Raises StoreError.
    """
    while True:
        record = await read_record(store, KEY)
        text = record.stored.data.decode() if record is not None else DEFAULT
        oldest, newest = _parse_span(text)
        read = None if oldest == newest == release.minor else make_read(release)
        first, last = min(oldest, release.minor), max(newest, release.minor)
        span = f"1.{last}" if first == last else f"1.{first}-1.{last}"
        if record is not None and span == text:
            return read
        try:
            expect = record.revision if record is not None else 0
            await store.commit([Operation(KEY, StoredValue(span.encode()), expect)])
        except RevisionConflict:
            continue
        return read


def make_read(release: Release) -> Read:
    """Return the function with which a release reads records: built-in objects get its fields."""
    kinds = {kind.prefix: kind for kind in catalog.ALL if kind.home is None and kind.struct is not None}
    ungated = Release(release.name, release.minor)  # with all gates on, because fields of disabled gates are read

    def read_record(record: Record) -> Record:
        kind = kinds.get(keys.prefix_of(record.key))
        stored = _read_again(kind, ungated, record.stored) if kind is not None else record.stored
        return record if stored is record.stored else record._replace(stored=stored)

    return read_record


def _read_again(kind: Kind, release: Release, stored: StoredValue) -> StoredValue:
    """Return a stored object with the fields of a release; unchanged if it has these, or cannot be decoded."""
    try:
        obj = serializer.decode_own(stored.with_revision(0))
        version = kind.by_version.get(obj["apiVersion"].rpartition("/")[2])
        struct = kind.struct_of(version) if version is not None else kind.struct
        assert struct is not None
        decoded = structs.decode_struct(in_release(struct, release), obj)
        decoded = {"kind": obj["kind"], "apiVersion": obj["apiVersion"]} | decoded
        return stored if decoded == obj else view.encode_object(kind, decoded)
    except (ValueError, LookupError, TypeError, AttributeError, structs.DecodeError):
        return stored


def _parse_span(text: str) -> tuple[int, int]:
    """Parse the minor numbers of the oldest and the newest release in a record. Raises StoreError."""
    oldest, _, newest = text.partition("-")
    return _parse_minor(oldest, text), _parse_minor(newest or oldest, text)


def _parse_minor(name: str, text: str) -> int:
    major, _, minor = name.partition(".")
    if major != "1" or not minor.isdigit():
        raise StoreError(f"{KEY} is {text!r}, which is not a Kubernetes release")
    return int(minor)
