"""Declarations of functions: name, types, implementation and cost in one place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import Any, TypeAlias

from podless.cel.sizes import Cost
from podless.cel.syntax import Expr
from podless.cel.types import Type, is_generic
from podless.runtime.dataclass import dataclass
from podless.runtime.release import NEWEST, Release

Args: TypeAlias = tuple[Type, ...]
Call: TypeAlias = Callable[..., Any] | None


@dataclass(frozen=True, slots=True)
class Overload:
    """One overload of a function."""

    name: str  # the id, such as uint64_int64
    args: tuple[Type, ...]
    result: Type
    call: Callable[..., Any] | None  # the implementation, None if the compiler writes it
    member: bool = False  # a method of its first argument
    cost: Cost | None = None  # None for that of the function
    # returns the fault of a constant first argument, from that and the items of the second: the faulty item (None for
    # the call), and why
    check: Callable[[str, list[Expr]], tuple[Expr | None, str] | None] | None = None
    generic: bool = field(init=False)  # has type parameters

    def __post_init__(self) -> None:
        object.__setattr__(self, "generic", any(map(is_generic, (*self.args, self.result))))


@dataclass(frozen=True, slots=True)
class Function:
    """A function. cost: None for 1.

    feature: new expressions need it in the release, "" for none (runtime/release.py).
    """

    name: str
    overloads: tuple[Overload, ...]
    cost: Cost | None = None
    feature: str = ""


def declare_function(name: str, *overloads: Overload, cost: Cost | None = None, feature: str = "") -> Function:
    """Return a function for a `Library`. overloads: from `member` and `overload`. cost, feature: as in `Function`."""
    return Function(name, overloads, cost, feature)


def declare_method(
    name: str, id: str, args: Args, result: Type, call: Call, cost: Cost | None = None, feature: str = ""
) -> Function:
    """Return a function with one overload, a method of its first argument."""
    return Function(name, (Overload(id, args, result, call, True),), cost, feature)


def declare_global(
    name: str, id: str, args: Args, result: Type, call: Call, cost: Cost | None = None, feature: str = ""
) -> Function:
    """Return a global function with one overload."""
    return Function(name, (Overload(id, args, result, call),), cost, feature)


def member(name: str, args: Args, result: Type, call: Call, cost: Cost | None = None) -> Overload:
    """Return an overload that is a method of its first argument."""
    return Overload(name, args, result, call, True, cost)


def overload(name: str, args: Args, result: Type, call: Call, cost: Cost | None = None) -> Overload:
    """Return an overload of a global function."""
    return Overload(name, args, result, call, False, cost)


@dataclass(frozen=True)
class Library:
    """A group of functions. types: names of types, as type() returns them.

    feature: new expressions need it in the release, "" for none (runtime/release.py).
    """

    name: str
    functions: tuple[Function, ...]
    types: Mapping[str, Type] = field(default_factory=dict)
    feature: str = ""


class Declarations:
    """All functions of some libraries by name, and all named types.

    homogeneous: the items of a list or map literal must have one type. lenient: has() accepts values without fields,
    such as null. release: leave out functions that new expressions cannot use in it.
    """

    def __init__(
        self,
        libraries: Iterable[Library],
        *,
        homogeneous: bool = False,
        lenient: bool = False,
        release: Release = NEWEST,
    ) -> None:
        self.libraries = tuple(library for library in libraries if release.has_feature(library.feature))
        self.homogeneous = homogeneous
        self.lenient = lenient
        self.functions: dict[str, tuple[Overload, ...]] = {}
        self.types: dict[str, Type] = {}
        self.overloads: dict[str, Overload] = {}
        self.owners: dict[str, Function] = {}
        self.costs: dict[str, Cost] = {}
        for library in self.libraries:
            self.types.update(library.types)
            for function in library.functions:
                if not release.has_feature(function.feature):
                    continue
                declared = self.functions.get(function.name, ())
                self.functions[function.name] = declared + function.overloads
                for overload in function.overloads:
                    self._add_overload(function, overload)

    def _add_overload(self, owner: Function, overload: Overload) -> None:
        self.overloads[overload.name] = overload
        self.owners[overload.name] = owner
        cost = overload.cost or owner.cost
        if cost is not None:
            self.costs[overload.name] = cost
