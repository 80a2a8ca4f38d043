"""Declared conversions, ready to convert objects. Values of CEL become JSON by their type."""

from __future__ import annotations

import base64
import math
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final

from podless.cel.convert import SchemalessValue
from podless.cel.errors import EvaluationError, NoSuchKey
from podless.cel.library.standard import to_string
from podless.cel.program import LIMIT
from podless.cel.schematypes import unescape_field
from podless.cel.types import DYN, Type
from podless.cel.values import Duration, Optional, Timestamp, Uint
from podless.codec import serializer
from podless.kinds.declared import ConversionFault
from podless.kinds.declared.paths import DeclaredPath, PathMisfit, find_holders, move_values, put_value, remove_value
from podless.runtime.dataclass import dataclass
from podless.runtime.jsonobject import Object
from podless.runtime.meter import charge

if TYPE_CHECKING:
    from podless.cel.program import Program
    from podless.schema import Schema

MAX_VALUES: Final = 4 << 20  # approximate bytes of all values of an object; the answer of a webhook has the same limit
_MIN_PART_SIZE: Final = 64  # minimum bytes that each part of a value counts
_DEEP: Final = 100  # maximum depth
_TEXTS: Final = 64  # bytes of a text that count as one step of the meter
_PLAIN: Final = (str, bool, int, float)
BUDGET = 10 * LIMIT  # CEL cost of all expressions of one step for one object; the same as for an object's rules


@dataclass(slots=True)
class ConversionStep:
    """The conversion from one version to another.

    schema: of the target version. moves: as `sort_moves` gives them. values: fields, with the programs for their
    values.
    """

    source: str
    target: str
    schema: Schema
    moves: list[Any] = field(default_factory=list)
    values: list[tuple[DeclaredPath, Program]] = field(default_factory=list)
    removed: list[DeclaredPath] = field(default_factory=list)
    defaults: list[tuple[DeclaredPath, Any]] = field(default_factory=list)

    def carry_out(self, obj: Object) -> Object:
        """Return an object of the source version as a new object of the target version. Raises ConversionFault."""
        result: Object = serializer.copy_value(obj)
        try:
            move_values(result, self.moves)
            budget, account = BUDGET, SizeAccount()
            for path, program in self.values:
                budget -= self._set_field(result, obj, path, program, budget, account)
            for path in self.removed:
                remove_value(result, path)
            for path, value in self.defaults:
                _fill_field(result, path, value)
        except PathMisfit as error:
            raise ConversionFault(str(error)) from None
        return result

    def _set_field(
        self, result: Object, obj: Object, path: DeclaredPath, program: Program, budget: int, account: SizeAccount
    ) -> int:
        """Set a field to the value of an expression. Returns the cost."""
        try:
            value, cost = program.run(obj, limit=min(LIMIT, budget))
            plain = to_json(value, program.type, account)
        except NoSuchKey as error:  # fields that the expression needs are missing, so the target field stays unset
            return error.cost
        except (EvaluationError, UnfitValue) as error:
            raise ConversionFault(f"{path.text}: {error}") from None
        if path.steps[0] == "metadata" and not isinstance(plain, str | None):
            raise ConversionFault(f"{path.text}: a label or annotation must be a string")
        if plain is None and program.type.kind == "opaque":
            remove_value(result, path)  # the expression returned optional.none()
        else:
            put_value(result, path, plain)
        return cost

    def complete(self) -> None:
        """Compile everything that conversions can need."""
        for _, program in self.values:
            program.complete()


def _fill_field(obj: Object, path: DeclaredPath, value: Any) -> None:
    for holder in find_holders(obj, path.steps):
        if holder.get(path.name) is None:
            holder[path.name] = serializer.copy_value(value)


class DeclaredConversions:
    """All declared conversions of a definition, between any two of its versions."""

    def __init__(self, steps: Iterable[ConversionStep]) -> None:
        self.steps: Mapping[tuple[str, str], ConversionStep] = {(step.source, step.target): step for step in steps}
        self._routes: dict[tuple[str, str], tuple[ConversionStep, ...]] = {}
        names = list(dict.fromkeys(name for pair in self.steps for name in pair))
        for source in names:
            for target, route in self._find_routes(source).items():
                self._routes[source, target] = route

    def _find_routes(self, source: str) -> dict[str, tuple[ConversionStep, ...]]:
        """Return the shortest sequence of steps from a version to each other one."""
        routes: dict[str, tuple[ConversionStep, ...]] = {source: ()}
        todo = deque([source])
        while todo:
            name = todo.popleft()
            for (start, end), step in self.steps.items():
                if start == name and end not in routes:
                    routes[end] = (*routes[name], step)
                    todo.append(end)
        return routes

    def can_convert(self, source: str, target: str) -> bool:
        """Return whether steps lead from one version to the other."""
        return source == target or (source, target) in self._routes

    def convert_object(self, obj: Object, api_version: str) -> Object:
        """Return an object of any version with another apiVersion. Raises ConversionFault."""
        source, target = (name.rpartition("/")[2] for name in (obj["apiVersion"], api_version))
        if not self.can_convert(source, target):
            raise ConversionFault(f"no conversion from {source} to {target} is declared")
        converted, before = obj, None
        group = api_version.rpartition("/")[0]
        for step in self._routes.get((source, target), ()):
            if before is not None:  # an intermediate version keeps only the fields of its schema
                converted["apiVersion"] = f"{group}/{step.source}"
                before.schema.prune(converted, drop=True)
            before = step
            try:
                converted = step.carry_out(converted)
            except ConversionFault as fault:
                raise ConversionFault(str(fault), f"{step.source} to {step.target}") from None
        return {**converted, "apiVersion": api_version}

    def complete(self) -> None:
        """Compile everything that conversions can need."""
        for step in self.steps.values():
            step.complete()


class UnfitValue(Exception):
    """A value has no JSON form, or is too large; the message says which."""


class SizeAccount:
    """The bytes that values of one object may still have.

    Nested lists share their items, so small expressions can make huge values.
    """

    __slots__ = ("remaining",)

    def __init__(self) -> None:
        self.remaining = MAX_VALUES

    def charge_bytes(self, size: int) -> None:
        """Subtract the bytes of a part. Raises UnfitValue."""
        charge(1 + size // _TEXTS)
        self.remaining -= max(size, _MIN_PART_SIZE)
        if self.remaining < 0:
            raise UnfitValue(f"the values have more than {MAX_VALUES} bytes")


def to_json(value: Any, type_: Type, account: SizeAccount, depth: int = 0) -> Any:
    """Return a value of a type as JSON that shares nothing with it; None for optional.none(). Raises UnfitValue."""
    if depth > _DEEP:
        raise UnfitValue(f"the value nests deeper than {_DEEP} levels")
    if isinstance(value, SchemalessValue):
        value = value.value
    if isinstance(value, Optional):
        item_type = type_.params[0] if type_.params else DYN
        return to_json(value.value, item_type, account, depth + 1) if value.present else None
    if isinstance(value, dict):
        return _convert_map(value, type_, account, depth + 1)
    if isinstance(value, list):
        item_type = type_.params[0] if type_.kind == "list" and type_.params else DYN
        account.charge_bytes(2)
        return [to_json(item, item_type, account, depth + 1) for item in value]
    return _convert_scalar(value, account)


def _convert_map(value: dict[Any, Any], type_: Type, account: SizeAccount, depth: int) -> dict[str, Any]:
    is_struct = type_.kind == "struct"
    item_type = type_.params[1] if type_.kind == "map" and len(type_.params) > 1 else DYN
    account.charge_bytes(2)
    result = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise UnfitValue("the value has a key that is not a string")
        account.charge_bytes(len(key) + 4)
        # podless.cel.convert puts a space before names that no expression can write
        name = key[1:] if isinstance(item, SchemalessValue) else unescape_field(key) if is_struct else key
        result[name] = to_json(item, item_type, account, depth)
    return result


def _convert_scalar(value: Any, account: SizeAccount) -> Any:
    if isinstance(value, str):
        account.charge_bytes(len(value) + 2)
        return str(value)
    account.charge_bytes(4)
    if value is None or value.__class__ in _PLAIN:
        if isinstance(value, float) and not math.isfinite(value):
            raise UnfitValue("the value is not a finite number")
        return value
    if isinstance(value, Uint):
        return int(value)
    if isinstance(value, bytes):
        account.charge_bytes(len(value) * 4 // 3)
        return base64.b64encode(value).decode()
    if isinstance(value, Timestamp | Duration):
        return to_string(value)
    raise UnfitValue("the value has no form in JSON")
