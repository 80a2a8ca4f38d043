"""Dataclasses that compile one function do what those of the standard library do."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from dataclasses import field
from typing import Any

import pytest

from podless.runtime.dataclass import dataclass

CASES = [
    {},
    {"eq": False},
    {"frozen": True},
    {"frozen": True, "eq": False},
    {"slots": True},
    {"frozen": True, "slots": True},
    {"frozen": True, "slots": True, "kw_only": True},
]


class Declared:
    """A class with each kind of field."""

    first: int
    second: list[int] = field(default_factory=list, hash=False)
    third: str = field(default="x", repr=False, compare=False)
    fourth: int = field(default=4, init=False)
    fifth: dict[str, int] = field(default_factory=dict, init=False, compare=False)
    sixth: int = field(default=6, kw_only=True)

    def __post_init__(self) -> None:
        self.fifth["sum"] = self.first + self.sixth


class Inherited:
    """A class with a field in addition, and its own text."""

    seventh: Any = None

    def __repr__(self) -> str:
        return "inherited"


def copy_body(of: type) -> dict[str, Any]:
    """Return what a class statement declares."""
    return {name: value for name, value in vars(of).items() if name not in ("__dict__", "__weakref__")}


def make_both(options: dict[str, bool]) -> list[tuple[Any, Any]]:
    """Return the two classes as dataclasses of podless, and as those of the standard library."""
    results: list[tuple[Any, Any]] = []
    decorators: tuple[Any, ...] = (dataclass, dataclasses.dataclass)
    for decorate in decorators:
        parent = decorate(**options)(type("Declared", (), copy_body(Declared)))
        results.append((parent, decorate(**options)(type("Inherited", (parent,), copy_body(Inherited)))))
    return results


@pytest.mark.parametrize("options", CASES, ids=str)
def test_values_equal_each_other_and_have_hashes_and_texts_as_in_the_standard_library(options: dict[str, bool]) -> None:
    answers = []
    for parent, child in make_both(options):
        values = [parent(first=1), parent(first=1, third="y"), parent(first=1, second=[2]), child(first=1)]
        answers.append(
            (
                [[one == other for other in values] for one in values],
                [list(map(repr, values)), [value.fifth for value in values], [value.fourth for value in values]],
                [cls.__hash__ is None for cls in (parent, child)],
                [len({*values}), hash(values[0]) == hash(values[2])] if parent.__hash__ is not None else (),
                [(name, at.kind) for name, at in inspect.signature(child).parameters.items()],
                [dataclasses.asdict(value) for value in values],
                dataclasses.replace(values[0], first=5).fifth,
                parent.__match_args__,
            )
        )
    assert answers[0] == answers[1]


@pytest.mark.parametrize("options", CASES, ids=str)
def test_only_frozen_values_refuse_changes(options: dict[str, bool]) -> None:
    for parent, child in make_both(options):
        for cls in (parent, child):
            value = cls(first=1)
            if options.get("frozen"):
                with pytest.raises(dataclasses.FrozenInstanceError, match="first"):
                    value.first = 2
                with pytest.raises(dataclasses.FrozenInstanceError, match="first"):
                    del value.first
            else:
                value.first = 2
                assert value.first == 2
            assert hasattr(value, "__dict__") is not options.get("slots", False)


@dataclass(frozen=True, slots=True)
class Point:
    """A value that can be copied and sent to another process."""

    x: int
    y: int = 0


def test_frozen_values_can_be_copied_and_pickled() -> None:
    assert pickle.loads(pickle.dumps(Point(1, 2))) == copy.copy(Point(1, 2)) == Point(1, 2)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        Point()  # type: ignore[call-arg]
