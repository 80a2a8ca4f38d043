"""Where objects are in the store, and how their bytes lie there: the one place that takes keys and values apart.

An object's key is /GROUP/RESOURCE/NAMESPACE/NAME, without the namespace for what is cluster-scoped; the core group is
"core". Keys sort as lists do, by namespace and name. No group is named without a dot, so what the server keeps for
itself is under /podless/.
"""

from __future__ import annotations

from sys import intern
from typing import NamedTuple

OWN = "/podless/"
ALL = "/"
_CLUSTER_SCOPED = 4  # parts of a key, the empty one before the first slash included


class Stored(NamedTuple):
    """A value as an engine keeps it: JSON with a hole of no width at `offset`, where its revision belongs."""

    data: bytes
    offset: int = 0

    def at(self, revision: int) -> bytes:
        """The JSON with a revision in the hole."""
        return b"%b%d%b" % (self.data[: self.offset], revision, self.data[self.offset :])

    @classmethod
    def cut(cls, body: bytes, offset: int, revision: int) -> Stored:
        """What `at` has made a body of."""
        return cls(body[:offset] + body[offset + len(str(revision)) :], offset)


class Keys(NamedTuple):
    """The keys of one resource. prefix: what all of them start with, such as /example.com/gadgets/."""

    prefix: str
    namespaced: bool

    @classmethod
    def of(cls, group: str, plural: str, *, namespaced: bool) -> Keys:
        """The keys of a resource by its names; group is "" for the core one."""
        return cls(f"/{group or 'core'}/{plural}/", namespaced)

    def key(self, namespace: str, name: str) -> str:
        """The key of one object."""
        return f"{self.prefix}{namespace}/{name}" if self.namespaced else f"{self.prefix}{name}"

    def scope(self, namespace: str) -> str:
        """What the keys in a namespace start with; those of all objects for "" and where there are no namespaces."""
        return f"{self.prefix}{namespace}/" if self.namespaced and namespace else self.prefix

    def namespace(self, key: str) -> str:
        """The namespace in a key, "" for what is cluster-scoped."""
        if not self.namespaced:
            return ""
        start = len(self.prefix)
        return intern(key[start : key.index("/", start)])


def name_of(key: str) -> str:
    """The object's name."""
    return key.rpartition("/")[2]


def namespace_of(key: str) -> str:
    """The namespace in an object's key, "" for what is cluster-scoped."""
    parts = key.split("/")
    return parts[3] if len(parts) > _CLUSTER_SCOPED else ""


def prefix_of(key: str) -> str:
    """The prefix of the resource that a key is of, "" or "/" for one that is of none."""
    return key[: key.find("/", key.find("/", 1) + 1) + 1]


def resource_of(key: str) -> tuple[str, str]:
    """The group ("" for the core one) and the plural that a key is of."""
    group, plural = key.split("/", 3)[1:3]
    return "" if group == "core" else group, plural


def prefix_end(prefix: str) -> str:
    """The first key after all that start with a prefix."""
    return prefix[:-1] + chr(ord(prefix[-1]) + 1)
