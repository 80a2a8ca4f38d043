"""A scenario: the user's steps in each run, and the invariants that must hold during and after it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from podless.cel import CelError, Program, compile
from podless.cel.types import DYN
from podless.codec import serializer
from podless.runtime.dataclass import dataclass
from podless.runtime.files import describe_fault
from podless.runtime.jsonobject import Object
from podless.testing.manifests import read_manifests

_FIELDS = ("steps", "always", "finally", "ignore")
_STEPS: Mapping[str, tuple[str, ...]] = {
    "apply": (),
    "patch": ("kind", "name", "namespace", "patch"),
    "delete": ("kind", "name", "namespace"),
    "wait": ("kind", "name", "namespace", "for", "timeout"),
    "advance": (),
}


class BadScenario(ValueError):
    """A scenario is invalid. The text is one line for a user."""


@dataclass(frozen=True, slots=True)
class UserStep:
    """A step of the user. verb: a key of _STEPS. value: its value in the scenario."""

    verb: str
    value: Any

    def __str__(self) -> str:
        if self.verb == "apply":
            return "apply " + ", ".join(f"{obj['kind']} {obj['metadata'].get('name', '')}" for obj in self.value)
        if self.verb == "advance":
            return f"advance the clock by {self.value:g} s"
        return f"{self.verb} {self.value['kind']} {self.value['name']}"


@dataclass(frozen=True, slots=True)
class Invariant:
    """A CEL expression about `items`, the objects of a kind in all namespaces, that must be true."""

    kind: str
    expression: str
    message: str
    program: Program

    def __str__(self) -> str:
        return self.message or f"{self.kind}: {self.expression}"

    def is_met(self, items: list[Object]) -> bool:
        """Return whether the invariant is met. An error of the expression counts as false."""
        try:
            return self.program.evaluate({"items": items}) is True
        except CelError:
            return False


@dataclass(frozen=True, slots=True)
class Scenario:
    """The user's steps, in order, and the invariants.

    always: checked after each write. last: checked when the controller has settled. ignore: paths such as
    "status.lastSeen" that may differ between runs.
    """

    steps: tuple[UserStep, ...]
    always: tuple[Invariant, ...] = ()
    last: tuple[Invariant, ...] = ()
    ignore: tuple[str, ...] = ()

    @classmethod
    def read(cls, file: Path) -> Scenario:
        """Read a YAML file. Paths in it start at its folder. Raises BadScenario, OSError."""
        try:
            return cls.parse(serializer.decode_yaml(file.read_bytes()), file.parent)
        except (serializer.YAMLError, BadScenario) as error:
            raise BadScenario(f"{file}: {error}") from None

    @classmethod
    def parse(cls, document: Any, folder: Path | None = None) -> Scenario:
        """Make a scenario from decoded YAML. Raises BadScenario."""
        if not isinstance(document, dict) or not isinstance(document.get("steps"), list):
            raise BadScenario("a scenario needs a list named steps")
        unknown = [name for name in document if name not in _FIELDS]
        if unknown:
            raise BadScenario(f"unknown field {unknown[0]!r}; there are {', '.join(_FIELDS)}")
        for name in ("always", "finally", "ignore"):
            if not isinstance(document.get(name) or [], list):
                raise BadScenario(f"{name} takes a list")
        folder = folder or Path()
        return cls(
            tuple(_read_step(number, step, folder) for number, step in enumerate(document["steps"], 1)),
            tuple(map(_read_invariant, document.get("always") or ())),
            tuple(map(_read_invariant, document.get("finally") or ())),
            tuple(map(str, document.get("ignore") or ())),
        )


def _read_step(number: int, step: Any, folder: Path) -> UserStep:
    if not isinstance(step, dict) or len(step) != 1 or next(iter(step)) not in _STEPS:
        raise BadScenario(f"step {number}: {_describe_step(step)}: use exactly one of {', '.join(_STEPS)}")
    verb, value = next(iter(step.items()))
    if verb == "apply":
        return UserStep(verb, _read_applied(number, value, folder))
    if verb == "advance":
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0:
            raise BadScenario(f"step {number}: advance takes a number of seconds")
        return UserStep(verb, float(value))
    if not isinstance(value, dict) or not {"kind", "name"} <= value.keys() <= set(_STEPS[verb]):
        raise BadScenario(f"step {number}: {verb} takes {', '.join(_STEPS[verb])}")
    if verb == "patch" and not isinstance(value.get("patch"), dict):
        raise BadScenario(f"step {number}: patch is a JSON merge patch")
    return UserStep(verb, value)


def _describe_step(step: Any) -> str:
    return ", ".join(map(str, step)) if isinstance(step, dict) else type(step).__name__


def _read_applied(number: int, manifests: Any, folder: Path) -> list[Object]:
    """Return the objects of an apply step: an object, a list of objects, or the path of a file or folder."""
    plain = isinstance(manifests, str) and "\n" not in manifests and "{" not in manifests
    try:
        return read_manifests(folder / manifests if plain else manifests)
    except OSError as error:
        raise BadScenario(f"step {number}: apply: {describe_fault(error)}") from None
    except ValueError as error:
        raise BadScenario(f"step {number}: apply: {error}") from None


def _read_invariant(condition: Any) -> Invariant:
    if not isinstance(condition, dict) or not {"kind", "expression"} <= condition.keys() <= {
        "kind",
        "expression",
        "message",
    }:
        raise BadScenario("a condition of always or finally needs kind and expression, and takes message")
    kind, expression = str(condition["kind"]), str(condition["expression"])
    try:
        program = compile(expression, {"items": DYN})
    except CelError as error:
        raise BadScenario(f"condition on {kind}: {error}") from None
    return Invariant(kind, expression, str(condition.get("message") or ""), program)
