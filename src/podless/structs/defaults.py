"""Fills the defaults of Go structs into decoded objects in one walk.

These are defaults that do not depend on other fields; the strategies have the others.
"""

from __future__ import annotations

import copy
from typing import Any

from podless.runtime.jsonobject import Object
from podless.runtime.meter import MAX_UNCHARGED, charge
from podless.structs.gotypes import GoType, ListOf, MapOf
from podless.structs.structs import Field, Struct

# the values of a field: structs, or lists or maps of structs
_SINGLE, _LIST, _MAP = range(3)


class _DefaultPlan:
    """The defaults of one struct. values: name -> default, whether zero values are kept. nested: name -> plan."""

    __slots__ = ("nested", "struct", "values")

    def __init__(self, struct: Struct) -> None:
        self.struct = struct
        self.values: list[tuple[str, Any, bool]] = []
        self.nested: list[tuple[str, int, _DefaultPlan]] = []

    def fill_defaults(self, obj: Object) -> None:
        """Fill in the defaults of an object and of all structs in it, in place."""
        missing = [
            (name, value)
            for name, value, keep_zero in self.values
            if not (obj.get(name) or (keep_zero and obj.get(name) is not None))
        ]
        if missing:
            for name, value in missing:
                obj[name] = copy.copy(value)
            ranks = self.struct.field_ranks
            # objects that other programs stored can have more fields
            names = sorted(obj, key=lambda name: ranks.get(name, -1))
            ordered = {name: obj[name] for name in names}
            obj.clear()
            obj.update(ordered)
        for name, shape, plan in self.nested:
            value = obj.get(name)
            if not value and value != {}:
                continue
            if shape == _SINGLE:
                plan.fill_defaults(value)
            else:
                if len(value) > MAX_UNCHARGED:
                    charge(len(value))
                for item in value if shape == _LIST else value.values():
                    if item is not None:
                        plan.fill_defaults(item)


def fill_defaults(struct: Struct, obj: Object) -> None:
    """Set the defaults of fields that a decoded object leaves out, in place and in the struct's order."""
    plan = _plan_defaults(struct)
    if plan is not None:
        plan.fill_defaults(obj)


def complete_defaults(struct: Struct) -> None:
    """Compute everything that `fill_defaults` needs for a struct."""
    _plan_defaults(struct)


def _plan_defaults(struct: Struct) -> _DefaultPlan | None:
    plan: _DefaultPlan | None = struct.derive_value("fill", lambda: _compile_plan(struct))
    return plan


def _compile_plan(struct: Struct) -> _DefaultPlan | None:
    plans: dict[Struct, _DefaultPlan] = {}
    _plan_nested(struct, plans)
    useful = {planned for planned, plan in plans.items() if plan.values}
    while True:  # a struct is useful if it contains a useful one
        added = {
            planned for planned, plan in plans.items() if any(child.struct in useful for _, _, child in plan.nested)
        } - useful
        if not added:
            break
        useful |= added
    for plan in plans.values():
        plan.nested = [planned for planned in plan.nested if planned[2].struct in useful]
    return plans[struct] if struct in useful else None


def _plan_nested(struct: Struct, plans: dict[Struct, _DefaultPlan]) -> _DefaultPlan:
    plan = plans.get(struct)
    if plan is not None:
        return plan
    plan = plans[struct] = _DefaultPlan(struct)
    for field in struct:
        value = _default_value(field)
        if value is not None:
            plan.values.append((field.name, value, field.pointer))
        child, shape = _nested_struct(field.type)
        if child is not None:
            plan.nested.append((field.name, shape, _plan_nested(child, plans)))
    return plan


def _default_value(field: Field) -> Any:
    value = field.default if field.fill is None else field.fill
    return value if value is not None and (value or field.pointer) else None


def _nested_struct(kind: GoType) -> tuple[Struct | None, int]:
    if isinstance(kind, Struct):
        return kind, _SINGLE
    if isinstance(kind, ListOf | MapOf) and isinstance(kind.item, Struct):
        return kind.item, _LIST if isinstance(kind, ListOf) else _MAP
    return None, _SINGLE
