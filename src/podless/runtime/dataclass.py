"""`dataclasses.dataclass` for a quick start: it compiles one function for a class, and not six.

Before Python 3.13, `dataclasses` compiles `__init__`, `__repr__`, `__eq__`, `__hash__`, `__setattr__` and `__delattr__`
of each class from text, which was 15% of the start of a server. Here only `__init__` is compiled; the others are
closures over the names of the fields. Fields, `replace` and `asdict` are those of `dataclasses`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from operator import attrgetter
from reprlib import recursive_repr
from typing import Any, TypeVar, dataclass_transform

_T = TypeVar("_T")


@dataclass_transform(field_specifiers=(dataclasses.field,))
def dataclass(
    *, eq: bool = True, frozen: bool = False, kw_only: bool = False, slots: bool = False
) -> Callable[[type[_T]], type[_T]]:
    """Make a class a dataclass. The arguments mean what they mean in `dataclasses`."""

    def declare_class(cls: type[_T]) -> type[_T]:
        declare = dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=kw_only, slots=slots)
        made: type[_T] = declare(cls)
        fields = dataclasses.fields(made)  # type: ignore[arg-type]
        own = cls.__dict__
        methods: dict[str, Any] = {"__init__": _compile_init(made, fields, frozen=frozen), "__repr__": _show_fields}
        if eq:
            methods["__eq__"] = _make_equal([field.name for field in fields if field.compare])
            hashed = [field.name for field in fields if (field.compare if field.hash is None else field.hash)]
            methods["__hash__"] = _make_hash(hashed) if frozen else None
        if frozen:
            methods |= {"__setattr__": _reject_change, "__delattr__": _reject_change}
            if slots:
                methods |= {"__getstate__": _list_values, "__setstate__": _set_values}
        for name, method in methods.items():
            if own.get(name) is None:  # a class with its own __eq__ has the __hash__ None
                setattr(made, name, method)
        return made

    return declare_class


def _compile_init(cls: type, fields: tuple[dataclasses.Field[Any], ...], *, frozen: bool) -> Any:
    """Return the method that sets all fields, then calls `__post_init__`."""
    scope: dict[str, Any] = {"set_": object.__setattr__, "missing_": dataclasses.MISSING}
    positional: list[str] = ["self"]
    named: list[str] = []
    lines: list[str] = []
    for field in fields:
        name, value = field.name, field.name
        parameter, given = f"{name}=default_{name}", f"default_{name}"
        if field.default is not dataclasses.MISSING:
            scope[given] = field.default
        elif field.default_factory is not dataclasses.MISSING:
            scope[given], parameter = field.default_factory, f"{name}=missing_"
            given += "()"
            value = f"{given} if {name} is missing_ else {name}"
        else:
            parameter = name
        if field.init:
            (named if field.kw_only else positional).append(parameter)
        elif parameter != name:
            value = given
        else:
            continue
        lines.append(f" set_(self, {name!r}, {value})" if frozen else f" self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append(" self.__post_init__()")
    parameters = ", ".join([*positional, *(["*", *named] if named else ())])
    exec("\n".join([f"def __init__({parameters}):", *(lines or [" pass"])]), scope)
    init = scope["__init__"]
    init.__annotations__ = {**{field.name: field.type for field in fields if field.init}, "return": None}
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    return init


def _make_equal(names: list[str]) -> Callable[[Any, Any], Any]:
    read = attrgetter(*names) if names else type

    def is_equal(self: Any, other: Any) -> Any:
        if other is self:
            return True
        return read(self) == read(other) if other.__class__ is self.__class__ else NotImplemented

    return is_equal


def _make_hash(names: list[str]) -> Callable[[Any], int]:
    read = attrgetter(*names) if names else type

    def hash_fields(self: Any) -> int:
        return hash(read(self))

    return hash_fields


@recursive_repr()
def _show_fields(self: Any) -> str:
    shown = (f"{field.name}={getattr(self, field.name)!r}" for field in dataclasses.fields(self) if field.repr)
    return f"{self.__class__.__qualname__}({', '.join(shown)})"


def _reject_change(self: Any, name: str, _value: object = None) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot change field {name!r}")


def _list_values(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _set_values(self: Any, state: list[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)
