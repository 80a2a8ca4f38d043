"""Validates CEL selectors of devices: their environment and errors. podless has no devices, so it evaluates none.

Source: k8s.io/dynamic-resource-allocation cel, with the features that a server has by default.
"""

from __future__ import annotations

from collections.abc import Mapping

from podless.cel import library, macros, program, types
from podless.cel.bounds import run_with_room
from podless.cel.errors import CompileError, ProgramError
from podless.cel.estimate import estimate_cost
from podless.cel.library.quantity import QUANTITY
from podless.cel.policies.environment import format_runtime_type
from podless.cel.program import LIMIT, Program
from podless.cel.schematypes import Decl
from podless.cel.types import FieldTypes, Type
from podless.meta.field import At, FieldError, forbidden, internal, invalid, too_long

_MAX_SELECTOR = 10 * 1024  # bytes of a selector
_MAX_DOMAIN, _MAX_NAME, _MAX_DRIVER, _MAX_VALUE = 63, 32, 63, 64  # bytes
_MAX_ENTRIES = 32
_ANY_VALUE = Type("dyn", "any")  # a value whose type is known only at evaluation
_NAME = "device"


class _DeviceDecl(Decl):
    """A part of a device. max_items: the size of its values. other_fields: the declaration of all other keys."""

    def __init__(
        self,
        kind: str,
        type_: Type,
        limit: int,
        fields: Mapping[str, Decl] | None = None,
        *,
        other_fields: Decl | None = None,
        items: Decl | None = None,
        keys: Decl | None = None,
    ) -> None:
        self.kind, self.type, self.max_items = kind, type_, limit
        self.items, self.keys = items, keys
        self.declared_fields, self.other_fields = fields or {}, other_fields

    def find_field(self, name: str) -> Decl | None:
        return self.declared_fields.get(name, self.other_fields)


def _declare_text(limit: int) -> _DeviceDecl:
    return _DeviceDecl("string", types.STRING, limit)


def _declare_domains(item: Decl, *, named: bool) -> _DeviceDecl:
    """Return the attributes or capacities of a device, by domain and name.

    named: the sizes of values under a name are known.
    """
    names_type = types.map_of(types.STRING, item.type)
    other_fields = item if named else None
    domain = _DeviceDecl(
        "map", names_type, _MAX_ENTRIES, other_fields=other_fields, items=item, keys=_declare_text(_MAX_NAME)
    )
    domains_type = types.map_of(types.STRING, names_type)
    return _DeviceDecl("map", domains_type, _MAX_ENTRIES, items=domain, keys=_declare_text(_MAX_DOMAIN))


_DEVICE = _DeviceDecl(
    "object",
    types.struct_type("kubernetes.DRADevice"),
    0,
    {
        "driver": _declare_text(_MAX_DRIVER),
        "attributes": _declare_domains(_DeviceDecl("dyn", _ANY_VALUE, _MAX_VALUE), named=True),
        "capacity": _declare_domains(_DeviceDecl("quantity", QUANTITY, 0), named=False),
        "allowMultipleAllocations": _DeviceDecl("bool", types.BOOL, 1),
    },
)
_MACROS = macros.KUBERNETES | macros.BIND
_VARIABLES: Mapping[str, Type] = {_NAME: _DEVICE.type}


class _DeviceFields(FieldTypes):
    def find_field_type(self, struct: str, name: str) -> Type | None:
        decl = _DEVICE.find_field(name) if struct == _DEVICE.type.name else None
        return None if decl is None else decl.type


def validate_device_selector(source: str, at: At) -> list[FieldError]:
    """Validate a selector. Returns at most one error."""
    if len(source.encode("utf-8", "replace")) > _MAX_SELECTOR:
        return [too_long(at, _MAX_SELECTOR)]
    functions = library.kubernetes_libraries()
    try:
        tree = program.analyze_source(source, _VARIABLES, functions, _DeviceFields(), _MACROS)
        if tree.type not in (types.BOOL, _ANY_VALUE):
            reason = f"must evaluate to bool or the unknown type, not {format_runtime_type(tree.type)}"
            return [invalid(at, source, reason)]
        compiled = Program(source, tree, functions, {_NAME: None})
        compiled.check_constants()
        compiled.prepare()
    except CompileError as error:
        return [invalid(at, source, f"compilation failed: {error}")]
    except ProgramError as error:
        return [internal(at, f"program instantiation failed: {error}")]
    if run_with_room(lambda: estimate_cost(tree, functions, _DEVICE, _NAME)).high > LIMIT:
        return [forbidden(at, "too complex, exceeds cost limit")]
    return []
