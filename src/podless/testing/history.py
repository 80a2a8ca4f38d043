"""The changes of an object, for assertions in tests."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from podless.history.story import format_change, format_fields
from podless.runtime.dataclass import dataclass
from podless.runtime.jsonobject import Object


@dataclass(frozen=True, slots=True)
class RecordedFieldChange:
    """One field of a change, such as spec.replicas. before, after: None also if the field is absent."""

    path: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class RecordedChange:
    """One change of one object.

    operation: create, update or delete. verb: of the request, apply for a server-side apply, "" for the server itself.
    obj: the object after the change, None after a delete. fields: what an update changed.
    """

    revision: int
    time: str
    operation: str
    user: str
    verb: str
    subresource: str
    manager: str
    agent: str
    obj: Object | None = field(repr=False)
    fields: tuple[RecordedFieldChange, ...] = ()
    shown: Object = field(repr=False, default_factory=dict)

    def touches(self, path: str) -> bool:
        """Return whether an update changed this field or one below it; a create touches every field of the object."""
        if self.operation == "create":
            value: Any = self.obj
            for segment in path.split("."):
                value = value.get(segment) if isinstance(value, dict) else None
            return value is not None
        return any(
            field.path == path or field.path.startswith((f"{path}.", f"{path}[")) or path.startswith(f"{field.path}.")
            for field in self.fields
        )

    @property
    def name(self) -> str:
        """The name of the object."""
        return str(self.shown["object"]["name"])

    def __str__(self) -> str:
        return "\n".join([format_change(self.shown), *format_fields(self.shown.get("fields", ()))])


def read_change(shown: Object) -> RecordedChange:
    """Return a change as the API shows it, with its state."""
    author = shown["author"]
    return RecordedChange(
        shown["revision"],
        shown["time"],
        shown["operation"],
        author.get("user", ""),
        author.get("verb", ""),
        author.get("subresource", ""),
        author.get("fieldManager", ""),
        author.get("userAgent", ""),
        shown.get("state") if shown["operation"] != "delete" else None,
        tuple(
            RecordedFieldChange(field["path"], field.get("before"), field.get("after"))
            for field in shown.get("fields", ())
        ),
        shown,
    )
