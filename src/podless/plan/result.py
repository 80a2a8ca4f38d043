"""The result of planning: the change of each object, and the failed reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from typing import Any

from podless.history.difference import ABSENT
from podless.plan.manifests import Identity
from podless.plan.recording import WebhookCall
from podless.plan.secrecy import HIDDEN
from podless.runtime.dataclass import dataclass
from podless.runtime.jsonobject import Object


class Action(StrEnum):
    """The change of an object. UNKNOWN: its state could not be read."""

    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"
    REFUSED = "refused"
    UNCHANGED = "unchanged"
    UNKNOWN = "unknown"


class By(StrEnum):
    """The cause of a field's change: the set, a policy or webhook, or the server."""

    SET = "set"
    POLICY = "policy"
    SERVER = "server"


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field that changes.

    path: such as spec.containers[name=web].image. before, after: ABSENT if missing. by: the cause; plugin: its name,
    if it is a policy or an admission plugin of the server. generated: the API will choose another value, such as a uid.
    secret: the values must not be shown. old_managers, new_managers: the owners before and after, if they change.
    """

    path: str
    before: Any
    after: Any
    by: By = By.SET
    plugin: str = ""
    generated: bool = False
    secret: bool = False
    old_managers: tuple[str, ...] = ()
    new_managers: tuple[str, ...] = ()

    def __repr__(self) -> str:
        old, new = (value if value is ABSENT or not self.secret else HIDDEN for value in (self.before, self.after))
        return f"FieldChange({self.path!r}, {old!r} -> {new!r}, by {self.by})"


@dataclass(frozen=True, slots=True)
class Cause:
    """One reason of a rejection. field: "" for the object as a whole. line, column: of the field."""

    field: str
    message: str
    line: int
    column: int


@dataclass(slots=True)
class Change:
    """The change of one object.

    file, line, column: its place in the set; "" and 0 if it is not in the set. message: of a rejection, in the server's
    words, or why the object is deleted. code: HTTP status of a rejection, 0 for none. fields: changed fields.
    warnings: of the server. waits: finalizers that delay a deletion.
    consequence: not the set itself makes the change. before, after: the object; None if it is absent.
    """

    action: Action
    identity: Identity
    file: str = ""
    line: int = 0
    column: int = 0
    message: str = ""
    code: int = 0
    causes: Sequence[Cause] = ()
    fields: Sequence[FieldChange] = ()
    warnings: Sequence[str] = ()
    waits: Sequence[str] = ()
    consequence: bool = False
    before: Object | None = field(default=None, repr=False)
    after: Object | None = field(default=None, repr=False)

    @property
    def place(self) -> str:
        """FILE:LINE:COLUMN, "" for objects outside the set."""
        return f"{self.file}:{self.line}:{self.column}" if self.file else ""


@dataclass(frozen=True, slots=True)
class UnreadPart:
    """Something that could not be read. what: a path or a resource. why: the API's answer. effect: on the plan."""

    what: str
    why: str
    effect: str = ""

    def __str__(self) -> str:
        return f"{self.what}: {self.why}" + (f"; {self.effect}" if self.effect else "")


@dataclass(slots=True)
class Plan:
    """The predicted result of applying a set.

    source: where it starts. release: of Kubernetes. changes: of the set's objects, in the order of their writes, then
    deletions and other consequences. webhooks: those that would be called. missing: what could not be read. requests:
    sent to the source, by verb and resource. seconds: the time that planning took. applyset: the id of the ApplySet, ""
    for none. steps, api: the writes and the API that they are for, as plan files keep them.
    """

    source: str
    release: str
    changes: list[Change] = field(default_factory=list)
    webhooks: list[WebhookCall] = field(default_factory=list)
    missing: list[UnreadPart] = field(default_factory=list)
    requests: Mapping[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0
    applyset: str = ""
    steps: list[Object] = field(default_factory=list, repr=False)
    api: Object = field(default_factory=dict, repr=False)

    def of(self, *actions: Action, consequences: bool = True) -> list[Change]:
        """Return the changes with some actions. consequences: include changes that the set itself does not make."""
        return [
            change for change in self.changes if change.action in actions and (consequences or not change.consequence)
        ]

    @property
    def created(self) -> list[Change]:
        """The objects of the set that are created."""
        return self.of(Action.CREATE, consequences=False)

    @property
    def updated(self) -> list[Change]:
        """The objects of the set that change."""
        return self.of(Action.UPDATE, consequences=False)

    @property
    def deleted(self) -> list[Change]:
        """All deleted objects, including those that are deleted along with others."""
        return self.of(Action.DELETE)

    @property
    def refused(self) -> list[Change]:
        """The objects that the API rejects, or that cannot be read."""
        return self.of(Action.REFUSED)

    @property
    def unchanged(self) -> list[Change]:
        """The objects of the set that do not change."""
        return self.of(Action.UNCHANGED)

    @property
    def unknown(self) -> list[Change]:
        """The objects whose state could not be read."""
        return self.of(Action.UNKNOWN)

    @property
    def others(self) -> list[Change]:
        """Objects outside the set that the server creates or changes."""
        return [change for change in self.of(Action.CREATE, Action.UPDATE) if change.consequence]

    @property
    def warnings(self) -> list[str]:
        """All warnings, each with its object."""
        return [f"{change.identity}: {text}" for change in self.changes for text in change.warnings]

    @property
    def exit_code(self) -> int:
        """0: no change. 2: changes. 1: an object is rejected, or could not be read."""
        if self.refused or self.unknown or self.missing:
            return 1
        return 2 if self.created or self.updated or self.deleted else 0

    def find(self, kind: str, name: str, namespace: str = "") -> Change:
        """Return the change of one object. namespace: "" for any. Raises LookupError if the plan has none."""
        for change in self.changes:
            identity = change.identity
            if identity.kind == kind and identity.name == name and namespace in ("", identity.namespace):
                return change
        raise LookupError(f"the plan says nothing of {kind} {namespace and namespace + '/'}{name}")

    def summary(self) -> str:
        """Return the numbers, in one line."""
        counts = [
            (len(self.created), "to create"),
            (len(self.updated), "to change"),
            (len(self.deleted), "to delete"),
            (len(self.refused), "rejected"),
            (len(self.unknown), "unknown"),
        ]
        counted = [f"{number} {words}" for number, words in counts[:3]]
        counted += [f"{number} {words}" for number, words in counts[3:] if number]
        return f"Plan: {', '.join(counted)}, {len(self.unchanged)} unchanged."
