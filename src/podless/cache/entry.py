"""One object as it is kept in memory: its bytes ready to send, decoded only when something must look inside."""

from __future__ import annotations

from typing import Any

import orjson

from podless.store import Record


class Entry:
    """The state of one object at one revision. Immutable for those who use it.

    body: the object's JSON in its storage version with metadata.resourceVersion in place. namespace: "" for
    cluster-scoped objects. revision: of the write that made this state. created: of the write that created the object.
    """

    __slots__ = ("_labels", "body", "created", "forms", "key", "mark", "name", "namespace", "revision")

    def __init__(self, record: Record, namespaced: bool, revision: int = 0) -> None:
        """revision: shown in place of the record's own, for the last state that a DELETED event carries."""
        self.key = record.key
        parts = record.key.split("/")
        self.name = parts[-1]
        self.namespace = parts[-2] if namespaced else ""
        self.revision = revision or record.revision
        self.created = record.created
        self.mark = record.mark
        self.body = b"%b%d%b" % (record.value[: record.mark], self.revision, record.value[record.mark :])
        self.forms: dict[Any, Any] = {}
        self._labels: dict[str, str] | None = None

    def at(self, revision: int) -> Entry:
        """The same state under another revision: what a DELETED event shows."""
        shown = Entry.__new__(Entry)
        shown.key, shown.name, shown.namespace = self.key, self.name, self.namespace
        shown.revision, shown.created, shown.mark = revision, self.created, self.mark
        end = self.mark + len(str(self.revision))
        shown.body = b"%b%d%b" % (self.body[: self.mark], revision, self.body[end:])
        shown.forms = {}
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
            self._labels = self.decode()["metadata"].get("labels") or {}
        return self._labels
