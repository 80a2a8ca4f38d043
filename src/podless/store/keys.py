"""The keys and stored bytes of objects. No other module parses keys and values.

An object's key is /GROUP/RESOURCE/NAMESPACE/NAME, without the namespace if cluster-scoped; the core group is "core".
Keys sort as lists do, by namespace and name. Group names have a dot, so the server's own data is under /podless/.
"""

from __future__ import annotations

import uuid
from typing import NamedTuple

from podless.codec import serializer
from podless.runtime.jsonobject import Object

OWN = "/podless/"
ALL = "/"
_CLUSTER_SCOPED = 4  # parts of a key, with the empty one before the first slash


class StoredValue(NamedTuple):
    """A stored value: JSON with a gap at `offset`, where the resourceVersion belongs.

    linked: False only if its writer knows that the object has no ownerReferences and no deletionTimestamp.
    """

    data: bytes
    offset: int = 0
    linked: bool = True

    def with_revision(self, revision: int) -> bytes:
        """Return the JSON with a revision in the gap."""
        return b"%b%d%b" % (self.data[: self.offset], revision, self.data[self.offset :])

    @classmethod
    def split(cls, body: bytes, offset: int, revision: int) -> StoredValue:
        """Split the JSON of `with_revision` at the gap again."""
        return cls(body[:offset] + body[offset + len(str(revision)) :], offset)


def size_of(stored: StoredValue | None) -> int:
    """Return the bytes of a value, 0 for none."""
    return len(stored.data) if stored is not None else 0


class ResourceKeys(NamedTuple):
    """The keys of one resource. prefix: their common prefix, such as /example.com/gadgets/."""

    prefix: str
    namespaced: bool

    @classmethod
    def of(cls, group: str, plural: str, *, namespaced: bool) -> ResourceKeys:
        """Return the keys of a resource; group is "" for the core group."""
        return cls(f"/{group or 'core'}/{plural}/", namespaced)

    def key(self, namespace: str, name: str) -> str:
        """Return the key of an object."""
        return f"{self.prefix}{namespace}/{name}" if self.namespaced else f"{self.prefix}{name}"

    def scope(self, namespace: str) -> str:
        """Return the prefix of the keys in a namespace; for "" and for cluster-scoped resources that of all keys."""
        return f"{self.prefix}{namespace}/" if self.namespaced and namespace else self.prefix


def name_of(key: str) -> str:
    """Return the object's name."""
    return key.rpartition("/")[2]


def namespace_of(key: str) -> str:
    """Return the namespace in an object's key, "" if cluster-scoped."""
    segments = key.split("/")
    return segments[3] if len(segments) > _CLUSTER_SCOPED else ""


def prefix_of(key: str) -> str:
    """Return the prefix of a key's resource, "" or "/" if it has none."""
    return key[: key.find("/", key.find("/", 1) + 1) + 1]


def resource_of(key: str) -> tuple[str, str]:
    """Return group ("" for the core group) and plural of a key."""
    group, plural = key.split("/", 3)[1:3]
    return "" if group == "core" else group, plural


def prefix_end(prefix: str) -> str:
    """Return the first key after all keys with a prefix."""
    return prefix[:-1] + chr(ord(prefix[-1]) + 1)


def encode_foreign(obj: Object) -> StoredValue:
    """Return an object of another server with a gap for its revision.

    Raises ValueError, TypeError, LookupError for other values.
    """
    mark = uuid.uuid4().hex  # a value that the object cannot contain
    body = serializer.encode_sorted({**obj, "metadata": {**obj["metadata"], "resourceVersion": mark}})
    marked = mark.encode()
    offset = body.index(marked)
    return StoredValue(body[:offset] + body[offset + len(marked) :], offset)
