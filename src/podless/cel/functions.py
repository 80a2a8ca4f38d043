"""Declarations of functions: signature, implementation and cost in one place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from functools import lru_cache
from typing import Any

from podless.cel import types
from podless.cel.cost import Cost
from podless.cel.errors import EvaluationError
from podless.cel.syntax import Expr
from podless.cel.types import Type, is_generic
from podless.runtime.dataclass import dataclass
from podless.runtime.release import ALL_ON, Release

_SIGNATURE = re.compile(r"(?:<(?P<target>.+?)>\.)?(?P<name>.+?)\((?P<args>.*)\) -> (?P<result>.+)")
_COMMA = re.compile(r", (?![^(]*\))")  # none inside brackets
_NAMED_TYPES = {
    kind.name: kind
    for kind in (
        *(types.BOOL, types.BYTES, types.DOUBLE, types.DURATION, types.DYN, types.INT, types.PARAM_A, types.PARAM_B),
        *(types.STRING, types.TIMESTAMP, types.UINT),
    )
}
_TYPES_WITH_PARAMS: Mapping[str, Callable[..., Type]] = {
    "list": types.list_of,
    "map": types.map_of,
    "optional": types.optional,
    "type": types.type_of,
}
_IDS = {"int": "int64", "uint": "uint64"}  # names of types in ids of overloads


@dataclass(frozen=True, slots=True)
class Overload:
    """One overload of a function.

    name: its id, such as uint64_int64. call: the implementation, None if the compiler writes it. member: it is a method
    of its first argument. cost: None for 1. feature: new expressions need it in the release, "" for none
    (runtime/release.py). check: returns the fault of a constant first argument, from that and the items of the second:
    the faulty item (None for the call), and why. generic: it has type parameters.
    """

    function: str
    name: str
    args: tuple[Type, ...]
    result: Type
    call: Callable[..., Any] | None
    member: bool = False
    cost: Cost | None = None
    feature: str = ""
    check: Callable[[str, list[Expr]], tuple[Expr | None, str] | None] | None = None
    generic: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "generic", any(map(is_generic, (*self.args, self.result))))


def declare(
    signature: str, id: str, call: Callable[..., Any] | None, cost: Cost | None = None, feature: str = ""
) -> Overload:
    """Return an overload for a `Library`, with the other arguments as in `Overload`.

    signature: such as "<list(A)>.indexOf(A) -> int" for a method, and "lists.range(int) -> list(int)" for others. A and
    B are type parameters. Quantity is the type kubernetes.Quantity, and net.IP an opaque type.
    """
    parts = _SIGNATURE.fullmatch(signature)
    assert parts is not None, signature
    target = (parse_type(parts["target"]),) if parts["target"] else ()
    args = (*target, *_parse_types(parts["args"]))
    return Overload(parts["name"], id, args, parse_type(parts["result"]), call, bool(target), cost, feature)


def declare_each(
    kinds: str,
    signature: str,
    id: str,
    call: Callable[..., Any] | None,
    cost: Cost | None = None,
    feature: str = "",
) -> tuple[Overload, ...]:
    """Return an overload for each of some types, with the other arguments as in `declare`.

    {0} stands for the name of the type in `signature`, and also in `id`, where {1} is int64 for int.
    """
    return tuple(
        declare(signature.format(kind), id.format(kind, _IDS.get(kind, kind)), call, cost, feature)
        for kind in kinds.split()
    )


def succeeds(parse: Callable[..., Any]) -> Callable[..., bool]:
    """Return a function that returns whether `parse` raises no EvaluationError for its arguments."""

    def can_parse(*args: Any) -> bool:
        try:
            parse(*args)
        except EvaluationError:
            return False
        return True

    return can_parse


@lru_cache(maxsize=100)
def parse_type(text: str) -> Type:
    """Return the type that a signature names."""
    name, bracket, params = text.partition("(")
    if bracket:
        return _TYPES_WITH_PARAMS[name](*_parse_types(params[:-1]))
    if name in _NAMED_TYPES:
        return _NAMED_TYPES[name]
    assert name[0].isupper() or name.startswith(("net.", "authorization.")), name
    return types.opaque_type(name) if name.startswith("net.") else types.struct_type(f"kubernetes.{name}")


def _parse_types(text: str) -> tuple[Type, ...]:
    return tuple(map(parse_type, _COMMA.split(text))) if text else ()


@dataclass(frozen=True)
class Library:
    """A group of functions. types: names of types, as type() returns them. feature: as in `Overload`, for all."""

    name: str
    overloads: tuple[Overload, ...]
    types: Mapping[str, Type] = field(default_factory=dict)
    feature: str = ""


class Declarations:
    """All functions of some libraries by name, and all named types.

    kubernetes: as in kube-apiserver, the items of a list or map literal must have one type, and has() accepts values
    without fields, such as null. release: leave out functions that new expressions cannot use in it.
    """

    def __init__(self, libraries: Iterable[Library], *, kubernetes: bool = False, release: Release = ALL_ON) -> None:
        self.libraries = tuple(library for library in libraries if release.has_feature(library.feature))
        self.kubernetes = kubernetes
        self.functions: dict[str, tuple[Overload, ...]] = {}
        self.types: dict[str, Type] = {}
        self.overloads: dict[str, Overload] = {}
        self.costs: dict[str, Cost] = {}
        for library in self.libraries:
            self.types.update(library.types)
            for overload in library.overloads:
                if not release.has_feature(overload.feature):
                    continue
                self.functions[overload.function] = (*self.functions.get(overload.function, ()), overload)
                self.overloads[overload.name] = overload
                if overload.cost is not None:
                    self.costs[overload.name] = overload.cost
