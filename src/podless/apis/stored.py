"""What a newer Kubernetes release has stored, as an older one reads it: without the fields that it does not have.

A server decodes built-in objects from etcd into its own Go structs, which drop what they do not know; what is stored
stays as it is until the object is written. Fields whose gate is off are read: only writes drop them.
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
from podless.store import Conflicted, Operation, Record, Store, Stored, StoreError, keys
from podless.structs import structs
from podless.structs.structfiles import in_release

KEY: Final = f"{keys.OWN}release"  # the newest release that has written to the store
Read = Callable[[Record], Record]


async def note_release(store: Store, release: Release) -> Read | None:
    """Note that a release writes to the store, and return how it reads objects; None where no newer one has written.

    A store that says nothing was written by the default release. Raises StoreError.
    """
    while True:
        found = [record for record in (await store.range(KEY))[0] if record.key == KEY]
        newest = _parse_minor(found[0].stored.data.decode() if found else DEFAULT)
        if newest > release.minor:
            return make_read(release)
        if newest == release.minor:
            return None
        try:
            await store.commit([Operation(KEY, Stored(release.name.encode()), found[0].revision if found else 0)])
        except Conflicted:
            continue
        return None


def make_read(release: Release) -> Read:
    """Return how a release reads records: built-in objects without the fields that it does not have."""
    kinds = {kind.prefix: kind for kind in catalog.ALL if kind.home is None and kind.struct is not None}
    whole = Release(release.name, release.minor)  # with all gates on

    def read(record: Record) -> Record:
        kind = kinds.get(keys.prefix_of(record.key))
        stored = _drop_unknown(kind, whole, record.stored) if kind is not None else record.stored
        return record if stored is record.stored else record._replace(stored=stored)

    return read


def _drop_unknown(kind: Kind, release: Release, stored: Stored) -> Stored:
    """Return a stored object without unknown fields; the same where it has none, or cannot be read."""
    try:
        obj = serializer.decode_own(stored.at(0))
        version = kind.by_version.get(obj["apiVersion"].rpartition("/")[2])
        struct = kind.struct_of(version) if version is not None else kind.struct
        assert struct is not None
        unknown: list[str] = []
        known = structs.decode_struct(in_release(struct, release), obj, unknown)
        if not unknown:
            return stored
        return view.encode_object(kind, {"kind": obj["kind"], "apiVersion": obj["apiVersion"]} | known)
    except (ValueError, LookupError, TypeError, AttributeError, structs.DecodeError):
        return stored


def _parse_minor(name: str) -> int:
    major, _, minor = name.partition(".")
    if major != "1" or not minor.isdigit():
        raise StoreError(f"{KEY} is {name!r}, which is no Kubernetes release")
    return int(minor)
