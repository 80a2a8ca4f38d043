"""One object in memory: its bytes ready to send, decoded only if needed."""

from __future__ import annotations

from typing import Any

import orjson

from podless.runtime.memo import fill_attribute
from podless.runtime.meter import charge
from podless.store import Record, StoredValue, keys

_DELETION = b'"deletionTimestamp":'
_LONG_BODY = 1 << 15  # bytes; decoding more takes longer than charging for it
_STEP = 64  # bytes that one step decodes


class Entry:
    """The state of one object at one revision. Immutable for callers.

    body: the object's JSON in its storage version, with metadata.resourceVersion. revision: of the write that made this
    state. created: of the write that created the object.

    There is one for each object, so it does not keep rarely used values.
    """

    __slots__ = ("_forms", "_labels", "body", "created", "key", "offset", "revision")

    def __init__(self, record: Record) -> None:
        self.key, stored, revision, self.created = record
        self.revision = revision
        self.offset = stored.offset
        self.body = stored.with_revision(revision)
        self._forms: dict[Any, Any] | None = None
        self._labels: dict[str, str] | None = None

    @classmethod
    def make_unstored(cls, key: str, body: bytes) -> Entry:
        """Return an entry for a cluster-scoped object that is not stored.

        body: as clients get it, without a resourceVersion.
        """
        unstored = cls.__new__(cls)
        unstored.key, unstored.body = key, body
        unstored.revision = unstored.created = unstored.offset = 0
        unstored._forms = None
        unstored._labels = None
        return unstored

    @property
    def name(self) -> str:
        """The object's name."""
        return keys.name_of(self.key)

    @property
    def namespace(self) -> str:
        """The object's namespace, "" if it is cluster-scoped."""
        return keys.namespace_of(self.key)

    @property
    def stored(self) -> StoredValue:
        """The value as stored."""
        return StoredValue.split(self.body, self.offset, self.revision)

    @property
    def terminating(self) -> bool:
        """Whether the object has a deletionTimestamp."""
        return self.body.find(_DELETION) >= 0 and "deletionTimestamp" in self.decode()["metadata"]

    @property
    def forms(self) -> dict[Any, Any]:
        """Cached forms of this state by key: the object in other versions, its protobuf message ..."""
        return self._forms if self._forms is not None else fill_attribute(self, "_forms", dict)

    def at_revision(self, revision: int) -> Entry:
        """Return the same state under another revision, for a DELETED event."""
        copy = Entry.__new__(Entry)
        copy.key, copy.revision, copy.created, copy.offset = self.key, revision, self.created, self.offset
        copy.body = self.stored.with_revision(revision)
        copy._forms = None
        copy._labels = self._labels
        return copy

    def decode(self) -> dict[str, Any]:
        """Return a fresh copy of the object, which the caller may change."""
        self._charge_decoding()  # charge first, because the work can be suspended here
        decoded: dict[str, Any] = orjson.loads(self.body)
        return decoded

    def _charge_decoding(self) -> None:
        if len(self.body) > _LONG_BODY:
            charge(len(self.body) // _STEP)

    @property
    def labels(self) -> dict[str, str]:
        """The object's labels, cached."""
        return self._labels if self._labels is not None else fill_attribute(self, "_labels", self.read_labels)

    def read_labels(self) -> dict[str, str]:
        """Return the object's labels without caching them."""
        if self._labels is None:
            self._charge_decoding()
        if self._labels is None:  # again, because another watch can have set them during the charge
            labels: dict[str, str] = orjson.loads(self.body)["metadata"].get("labels") or {}
            return labels
        return self._labels
