"""A schedule: the perturbations of one run, each bound to a point of it.

A point is a write of a client or a step of the user. Its name says what it does, so that a schedule means the same in
every run: "controller create configmaps default/one #2" is the second such write.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any, ClassVar

from podless.runtime.dataclass import dataclass

MODES = ("slow", "skip", "restart", "past")


class BadSchedule(ValueError):
    """A schedule is malformed. The text is one line for a user."""


@dataclass(frozen=True)
class WritePerturbation:
    """A perturbation of one write. kind: in JSON. text: of the perturbation, before its point."""

    kind: ClassVar[str]
    text: ClassVar[str]
    at: str

    def __str__(self) -> str:
        return f"{self.text}: {self.at}"


class Crash(WritePerturbation):
    """Kill the client that makes the write, after it was committed and before its answer. Then start it again."""

    kind, text = "crash", "killed and started again after"


class LoseAnswer(WritePerturbation):
    """Carry out the write and close the connection without an answer."""

    kind, text = "lose-answer", "answer lost after"


class RejectWrite(WritePerturbation):
    """Answer the write with 409, as if another writer had come first.

    A create is carried out and then answered with AlreadyExists, as if it was sent twice. Other writes are answered
    with Conflict and not carried out.
    """

    kind, text = "reject-write", "409 for"


class ChangeLeader(WritePerturbation):
    """Take the lease from the leader that makes the write, and carry out the write when another instance leads."""

    kind, text = "change-leader", "another instance leads before"


@dataclass(frozen=True, slots=True)
class HoldEvents:
    """Hold a resource's events from a point on, until the clients have come to rest `rounds` times.

    mode: `slow` then delivers the events. `skip` drops them and ends the watches with 410, so that clients list again
    and never see the states between. `restart` also restarts the clients at the point and shows them lists from before
    it, as an API server that lags behind. `past` ends the watches with 410 at the point, and shows them lists from
    before the last change that the client saw. The client now seems to ask an API server that lags behind.
    """

    kind: ClassVar[str] = "hold-events"
    at: str
    resource: str
    mode: str = "slow"
    rounds: int = 1

    def __str__(self) -> str:
        descriptions = {
            "slow": f"events of {self.resource} come late",
            "skip": f"events of {self.resource} are missed",
            "restart": f"started again with an old view of {self.resource}",
            "past": f"shown the past of {self.resource} after a cut watch",
        }
        duration = f" for {self.rounds} rounds" if self.rounds > 1 else ""
        return f"{descriptions[self.mode]}{duration}, from: {self.at}"


Perturbation = WritePerturbation | HoldEvents
_KINDS: Mapping[str, type[Perturbation]] = {
    variant.kind: variant for variant in (Crash, LoseAnswer, RejectWrite, ChangeLeader, HoldEvents)
}


@dataclass(frozen=True, slots=True)
class Schedule:
    """The perturbations of a run, in no particular order. Each one happens once, at its point."""

    perturbations: tuple[Perturbation, ...] = ()

    def without_perturbation(self, perturbation: Perturbation) -> Schedule:
        """Return the schedule without one of its perturbations."""
        return Schedule(tuple(kept for kept in self.perturbations if kept != perturbation))

    def __iter__(self) -> Iterator[Perturbation]:
        return iter(self.perturbations)

    def __len__(self) -> int:
        return len(self.perturbations)

    def __str__(self) -> str:
        return "; ".join(map(str, self.perturbations)) or "nothing is perturbed"

    def to_json(self) -> list[dict[str, Any]]:
        """Return the schedule as JSON values."""
        return [{"kind": perturbation.kind, **asdict(perturbation)} for perturbation in self.perturbations]

    @classmethod
    def from_json(cls, items: Iterable[Any]) -> Schedule:
        """Read what `to_json` returned. Raises BadSchedule."""
        return cls(tuple(map(_read_perturbation, items)))


def _read_perturbation(item: Any) -> Perturbation:
    if not isinstance(item, dict) or item.get("kind") not in _KINDS:
        raise BadSchedule(f"a perturbation has one of these kinds: {', '.join(_KINDS)}")
    kind = _KINDS[item["kind"]]
    try:
        perturbation = kind(**{name: value for name, value in item.items() if name != "kind"})
    except TypeError as error:
        raise BadSchedule(f"{item['kind']}: {error}") from None
    if isinstance(perturbation, HoldEvents) and (
        perturbation.mode not in MODES or type(perturbation.rounds) is not int
    ):
        raise BadSchedule(f"hold-events: mode is one of {', '.join(MODES)}, and rounds is a whole number")
    return perturbation
