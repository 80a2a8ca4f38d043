"""The compiled form of a custom kind, and the memory that all such forms of the process may take.

A complete form takes up to 70 times the bytes of its schema, and clients choose the number of definitions. Over
`_TOTAL` bytes, forms that were not used lately are dropped; their next use compiles them again.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any
from weakref import ref

from podless.kinds.strategy import CompiledForm, Strategy
from podless.kinds.version import GivenSchema, Version
from podless.runtime.bounded import WeightAccount
from podless.runtime.weigh import free_values, weigh_values

if TYPE_CHECKING:
    from podless.cel.rules import NodeRules
    from podless.schema import Schema

_TOTAL = 64 << 20  # maximum bytes of all compiled forms of the process
_LARGE = 1 << 20  # bytes; larger forms are freed in pieces
_MIN = 8 << 10  # minimum bytes that a form counts
_DECODED = 10  # bytes of a decoded schema for each byte of its JSON
_RULE, _RULE_BYTE = 20_000, 400  # bytes of a compiled rule, plus those for each byte of its text

_account = WeightAccount("podless.kinds.compiledforms.CompiledDefinition", _MIN, _TOTAL)


class CompiledDefinition(CompiledForm):
    """The compiled schemas of a definition, and the values that other layers derive from its kind.

    schemas: by version. expressions: by version and whether objects have floats. table: the derived values.
    """

    __slots__ = ("__weakref__", "_account_entry", "_used", "_weight", "expressions", "schemas", "table")

    def __init__(self) -> None:
        self.schemas: dict[str, Schema] = {}
        self.expressions: dict[tuple[str, bool], NodeRules] = {}
        self.table: dict[Any, Any] = {}
        self._used = False  # since the account last checked; only the loop sets it
        self._weight = 0
        self._account_entry = _AccountEntry(self)

    def count_bytes(self, size: int) -> None:
        """Add the bytes of a value that the loop has compiled."""
        self.set_weight(self._weight + size)

    def count_schema(self, version: Version) -> None:
        """Add the bytes of a decoded schema."""
        self.count_bytes(_DECODED * version.source.size if isinstance(version.source, GivenSchema) else 0)

    def count_rules(self, openapi: dict[str, Any]) -> None:
        """Add the bytes of all rules of a schema, including rules that are compiled later."""
        from podless.schema.definition import walk_nodes  # imported late: slow, and many servers have no definitions

        rules = [rule for node in walk_nodes(openapi) for rule in node.get("x-kubernetes-validations") or ()]
        self.count_bytes(_RULE * len(rules) + _RULE_BYTE * sum(len(rule["rule"]) for rule in rules))

    def attach_table(self, table: dict[Any, Any]) -> None:
        self.table = table

    def mark_used(self) -> None:
        self._used = True

    def set_weight(self, weight: int) -> None:
        self._weight = weight
        _account.set_weight(self._account_entry, weight)

    def weigh_form(self, values: list[Any]) -> int:
        return weigh_values((*values, self.schemas, self.expressions, self.table), _unowned_types())

    def pin(self) -> None:
        self._used = True
        _account.pin_value(self._account_entry)

    def unpin(self) -> None:
        _account.unpin_value(self._account_entry)

    def drop_unused(self) -> None:
        _account.drop_holder(self._account_entry)

    def drop(self, forced: bool) -> bool:
        """Drop the form, unless it was used lately; see `Droppable`. Work in progress keeps its references."""
        if self._used and not forced:
            self._used = False
            return False
        self._free_tables()
        return True

    def __del__(self) -> None:
        _account.remove_holder(self._account_entry)
        self._free_tables()

    def _free_tables(self) -> None:
        tables: tuple[dict[Any, Any], ...] = (self.table, self.schemas, self.expressions)
        if self._weight > _LARGE and not sys.is_finalizing():
            free_values([table.copy() for table in tables], _unowned_types())
        self._weight = 0
        for table in tables:
            table.clear()


def _unowned_types() -> tuple[type, ...]:
    """Return the classes whose instances a form refers to without owning them."""
    from podless.kinds.kind import Kind

    return Kind, Strategy, CompiledDefinition


class _AccountEntry:
    """The entry of a form on the account. Its weak reference lets the form of a deleted definition go."""

    __slots__ = ("_form",)

    def __init__(self, form: CompiledDefinition) -> None:
        self._form = ref(form)

    def drop_value(self, forced: bool = False) -> bool:
        form = self._form()
        return form is None or form.drop(forced)
