"""Validates CEL selectors of devices: their environment and errors. podless has no devices, so it evaluates none.

Source: k8s.io/dynamic-resource-allocation cel, with the features that a server has by default.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from podless.cel import cost, library, macros, program, types
from podless.cel.bounds import run_with_room
from podless.cel.declared import Decl
from podless.cel.errors import CompileError, ProgramError
from podless.cel.library.quantity import QUANTITY
from podless.cel.policies.environment import runtime_type_name
from podless.cel.program import LIMIT, Program
from podless.cel.types import Type
from podless.meta.field import At, FieldError, forbidden, internal, invalid, too_long

_LONGEST = 10 * 1024  # bytes of a selector
_MOST_DOMAIN, _MOST_NAME, _MOST_DRIVER, _MOST_VALUE = 63, 32, 63, 64  # bytes
_MOST_ENTRIES = 32
_ANY = Type("dyn", "any")  # a value whose type is known only at evaluation
_NAME = "device"


class _DevicePart(Decl):
    """A part of a device. most: the size of its values. every: the declaration of keys that are not fields."""

    def __init__(
        self,
        kind: str,
        made: Type,
        limit: int,
        fields: Mapping[str, Decl] | None = None,
        *,
        every: Decl | None = None,
        items: Decl | None = None,
        keys: Decl | None = None,
    ) -> None:
        self.kind, self.type, self.most = kind, made, limit
        self.items, self.keys = items, keys
        self.known, self.every = fields or {}, every

    def field(self, name: str) -> Decl | None:
        return self.known.get(name, self.every)


def _text_part(limit: int) -> _DevicePart:
    return _DevicePart("string", types.STRING, limit)


def _domains(item: Decl, *, named: bool) -> _DevicePart:
    """Return the attributes or capacities of a device, by domain and name.

    named: the sizes of values under a name are known.
    """
    inner = types.map_of(types.STRING, item.type)
    every = item if named else None
    below = _DevicePart("map", inner, _MOST_ENTRIES, every=every, items=item, keys=_text_part(_MOST_NAME))
    outer = types.map_of(types.STRING, inner)
    return _DevicePart("map", outer, _MOST_ENTRIES, items=below, keys=_text_part(_MOST_DOMAIN))


_DEVICE = _DevicePart(
    "object",
    types.struct("kubernetes.DRADevice"),
    0,
    {
        "driver": _text_part(_MOST_DRIVER),
        "attributes": _domains(_DevicePart("dyn", _ANY, _MOST_VALUE), named=True),
        "capacity": _domains(_DevicePart("quantity", QUANTITY, 0), named=False),
        "allowMultipleAllocations": _DevicePart("bool", types.BOOL, 1),
    },
)
_MACROS = macros.KUBERNETES | macros.BIND
_GIVEN: Mapping[str, Type] = {_NAME: _DEVICE.type}


class _DeviceFields:
    """The struct type of a device."""

    def field(self, struct: str, name: str) -> Type | None:
        """Return the type of a field, or None."""
        found = _DEVICE.field(name) if struct == _DEVICE.type.name else None
        return None if found is None else found.type

    def constructs(self, struct: str) -> bool:
        """Return False: no struct can be constructed."""
        return False


def validate_device_selector(source: str, at: At) -> list[FieldError]:
    """Validate a selector. Returns at most one error."""
    if len(source.encode("utf-8", "replace")) > _LONGEST:
        return [too_long(at, _LONGEST)]
    fields: Any = _DeviceFields()
    functions = library.kubernetes_libraries()
    try:
        tree = program.analyze_source(source, _GIVEN, functions, fields, _MACROS)
        if tree.type not in (types.BOOL, _ANY):
            why = f"must evaluate to bool or the unknown type, not {runtime_type_name(tree.type)}"
            return [invalid(at, source, why)]
        made = Program(source, tree, functions, _GIVEN, {_NAME: None})
        made.check_constants()
        made.prepare()
    except CompileError as error:
        return [invalid(at, source, f"compilation failed: {error}")]
    except ProgramError as error:
        return [internal(at, f"program instantiation failed: {error}")]
    if run_with_room(lambda: cost.estimate_cost(tree, functions, _DEVICE, _NAME)).high > LIMIT:
        return [forbidden(at, "too complex, exceeds cost limit")]
    return []
