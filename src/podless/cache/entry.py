"""One object as it is kept in memory: its bytes ready to send, decoded only when something must look inside."""

from __future__ import annotations

from sys import intern
from typing import Any

import orjson

from podless.store import Record


class Entry:
    """The state of one object at one revision. Immutable for those who use it.

    body: the object's JSON in its storage version with metadata.resourceVersion in place. namespace: "" for
    cluster-scoped objects. revision: of the write that made this state. created: of the write that created the object.

    There is one for each object, so what is seldom asked for is not kept.
    """

    __slots__ = ("_forms", "_labels", "body", "created", "key", "mark", "namespace", "revision")

    def __init__(self, record: Record, namespaced: bool, revision: int = 0) -> None:
        """revision: shown in place of the record's own, for the last state that a DELETED event carries."""
        self.key = record.key
        self.namespace = intern(record.key.rsplit("/", 2)[-2]) if namespaced else ""
        self.revision = revision or record.revision
        self.created = record.created
        self.mark = record.mark
        self.body = b"%b%d%b" % (record.value[: record.mark], self.revision, record.value[record.mark :])
        self._forms: dict[Any, Any] | None = None
        self._labels: dict[str, str] | None = None

    @property
    def name(self) -> str:
        """The object's name."""
        return self.key.rpartition("/")[2]

    @property
    def forms(self) -> dict[Any, Any]:
        """What was made of this state, by what it is: the object in other versions, its message ..."""
        if self._forms is None:
            self._forms = {}
        return self._forms

    def at(self, revision: int) -> Entry:
        """The same state under another revision: what a DELETED event shows."""
        shown = Entry.__new__(Entry)
        shown.key, shown.namespace = self.key, self.namespace
        shown.revision, shown.created, shown.mark = revision, self.created, self.mark
        end = self.mark + len(str(self.revision))
        shown.body = b"%b%d%b" % (self.body[: self.mark], revision, self.body[end:])
        shown._forms = None
        shown._labels = self._labels
        return shown

    def decode(self) -> dict[str, Any]:
        """A fresh copy of the object, for those who change it."""
        decoded: dict[str, Any] = orjson.loads(self.body)
        return decoded

    @property
    def labels(self) -> dict[str, str]:
        """The object's labels; found once."""
        if self._labels is None:
            self._labels = self.read_labels()
        return self._labels

    def read_labels(self) -> dict[str, str]:
        """The object's labels, which are not kept."""
        found: dict[str, str] = self._labels or self.decode()["metadata"].get("labels") or {}
        return found
