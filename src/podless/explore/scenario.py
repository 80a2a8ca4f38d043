"""A scenario: the user's steps in each run, and the invariants that must hold during and after it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from podless.cel import CelError, Program, compile
from podless.cel.types import DYN
from podless.codec import serializer
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
    """A step of the user. verb: a key of _STEPS. given: its value in the scenario."""

    verb: str
    given: Any

    def __str__(self) -> str:
        if self.verb == "apply":
            return "apply " + ", ".join(f"{obj['kind']} {obj['metadata'].get('name', '')}" for obj in self.given)
        if self.verb == "advance":
            return f"advance the clock by {self.given:g} s"
        return f"{self.verb} {self.given['kind']} {self.given['name']}"


@dataclass(frozen=True, slots=True)
class Invariant:
    """A CEL expression about `items`, the objects of a kind in all namespaces, that must be true."""

    kind: str
    expression: str
    message: str
    program: Program

    def __str__(self) -> str:
        return self.message or f"{self.kind}: {self.expression}"

    def holds(self, items: list[Object]) -> bool:
        """Return whether the invariant holds. An error of the expression counts as false."""
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
    def parse(cls, given: Any, folder: Path | None = None) -> Scenario:
        """Make a scenario from decoded YAML. Raises BadScenario."""
        if not isinstance(given, dict) or not isinstance(given.get("steps"), list):
            raise BadScenario("a scenario needs a list named steps")
        unknown = [name for name in given if name not in _FIELDS]
        if unknown:
            raise BadScenario(f"unknown field {unknown[0]!r}; there are {', '.join(_FIELDS)}")
        for name in ("always", "finally", "ignore"):
            if not isinstance(given.get(name) or [], list):
                raise BadScenario(f"{name} takes a list")
        folder = folder or Path()
        return cls(
            tuple(_read_step(number, step, folder) for number, step in enumerate(given["steps"], 1)),
            tuple(map(_read_invariant, given.get("always") or ())),
            tuple(map(_read_invariant, given.get("finally") or ())),
            tuple(map(str, given.get("ignore") or ())),
        )


def _read_step(number: int, step: Any, folder: Path) -> UserStep:
    if not isinstance(step, dict) or len(step) != 1 or next(iter(step)) not in _STEPS:
        raise BadScenario(f"step {number}: {_show(step)}: use exactly one of {', '.join(_STEPS)}")
    verb, given = next(iter(step.items()))
    if verb == "apply":
        return UserStep(verb, _read_applied(number, given, folder))
    if verb == "advance":
        if isinstance(given, bool) or not isinstance(given, (int, float)) or given < 0:
            raise BadScenario(f"step {number}: advance takes a number of seconds")
        return UserStep(verb, float(given))
    if not isinstance(given, dict) or not {"kind", "name"} <= given.keys() <= set(_STEPS[verb]):
        raise BadScenario(f"step {number}: {verb} takes {', '.join(_STEPS[verb])}")
    if verb == "patch" and not isinstance(given.get("patch"), dict):
        raise BadScenario(f"step {number}: patch is a JSON merge patch")
    return UserStep(verb, given)


def _show(step: Any) -> str:
    return ", ".join(map(str, step)) if isinstance(step, dict) else type(step).__name__


def _read_applied(number: int, given: Any, folder: Path) -> list[Object]:
    """Return the objects of an apply step: an object, a list of objects, or the path of a file or folder."""
    plain = isinstance(given, str) and "\n" not in given and "{" not in given
    try:
        return read_manifests(folder / given if plain else given)
    except OSError as error:
        raise BadScenario(f"step {number}: apply: {describe_fault(error)}") from None
    except ValueError as error:
        raise BadScenario(f"step {number}: apply: {error}") from None


def _read_invariant(given: Any) -> Invariant:
    if not isinstance(given, dict) or not {"kind", "expression"} <= given.keys() <= {"kind", "expression", "message"}:
        raise BadScenario("a condition of always or finally needs kind and expression, and takes message")
    kind, expression = str(given["kind"]), str(given["expression"])
    try:
        program = compile(expression, {"items": DYN})
    except CelError as error:
        raise BadScenario(f"condition on {kind}: {error}") from None
    return Invariant(kind, expression, str(given.get("message") or ""), program)
