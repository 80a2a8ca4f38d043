"""Compiled schemas, the interface for the rest of podless and for programs without a server."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from podless.cel.correlation import ValuePair
from podless.meta import field
from podless.meta.field import FieldError
from podless.runtime.memo import fill_attribute, make_once
from podless.runtime.meter import charge, each
from podless.runtime.release import has
from podless.schema import check, defaulting, definition, embedded, lists, prune, shape
from podless.schema.compile import NodeFunction
from podless.schema.mode import ADMIT, CHECK, FILL, NORMALIZE, PRUNE, Mode, SharedParts
from podless.schema.node import Node, note_keys

# reasons of errors after which rules are not evaluated
BLOCKING = frozenset(
    ("FieldValueNotSupported", "FieldValueRequired", "FieldValueTooLong", "FieldValueTooMany", "FieldValueTypeInvalid")
)
# the error that says so
UNCHECKED = field.invalid(
    "<nil>",
    None,
    "some validation rules were not checked because the object was invalid;"
    " correct the existing errors to complete validation",
)


class Schema:
    """An openAPIV3Schema, compiled for one version.

    Immutable and lazy: code is compiled at first use. Objects are decoded JSON. Generated code handles valid objects;
    exact interpreters handle all others. A malformed schema raises ValueError at first use.

    preserve: keep unknown fields at every level and apply no defaults (spec.preserveUnknownFields of a definition);
    such a schema need not be structural. parts: the functions that this schema shares with others.
    """

    __slots__ = ("_node", "_parts", "_rules", "_walks", "openapi", "preserve")

    def __init__(self, openapi: dict[str, Any], preserve: bool = False, parts: SharedParts | None = None) -> None:
        self.openapi = openapi
        self.preserve = preserve
        self._node: Node | None = None
        self._rules: bool | None = None
        self._walks: dict[str, NodeFunction] = {}
        self._parts = SharedParts() if parts is None else parts

    @classmethod
    def compile(
        cls, openapi_schema: dict[str, Any] | None, preserve: bool = False, parts: SharedParts | None = None
    ) -> Schema:
        """Return the compiled schema of an openAPIV3Schema; None and {} have no fields."""
        return cls(openapi_schema or {}, preserve, parts)

    @classmethod
    def from_crd(cls, crd: dict[str, Any], version: str) -> Schema:
        """Return the schema of one version of a CustomResourceDefinition.

        Raises KeyError if there is no such version.
        """
        for item in each((crd.get("spec") or {}).get("versions") or ()):
            if item.get("name") == version:
                preserve = bool(crd["spec"].get("preserveUnknownFields"))
                return cls.compile((item.get("schema") or {}).get("openAPIV3Schema"), preserve)
        raise KeyError(version)

    @property
    def node(self) -> Node:
        """The root node. Raises ValueError for a malformed schema; structural() lists its errors."""
        return self._node if self._node is not None else fill_attribute(self, "_node", self._make_node)

    def _make_node(self) -> Node:
        errors = shape.check_shape(self.openapi, "openAPIV3Schema")
        if errors:
            raise ValueError(str(errors[0]))
        return Node(self.openapi)

    @property
    def has_rules(self) -> bool:
        """Whether the schema has x-kubernetes-validations anywhere."""
        return self._rules if self._rules is not None else fill_attribute(self, "_rules", self._find_rules)

    def _find_rules(self) -> bool:
        return any(node.get("x-kubernetes-validations") for node in definition.walk_nodes(self.openapi))

    def _get_walk(self, mode: Mode) -> Callable[[Any], bool]:
        walk = self._walks.get(mode.name)
        return (walk if walk is not None else self._get_function(mode)).run

    def _get_function(self, mode: Mode) -> NodeFunction:
        return make_once(self._walks, mode.name, lambda: NodeFunction(self.node, mode, self._parts))

    def complete(self) -> None:
        """Compile all functions now, instead of at first use."""
        todo = [self.node]
        while todo:
            charge(8)
            node = todo.pop()
            if node.has_default:
                defaulting.get_own_default(node)
            todo.extend(node.iterate_children())
        note_keys(self.node)
        for mode in (CHECK,) if self.preserve else (CHECK, NORMALIZE, PRUNE, FILL, ADMIT):
            self._get_function(mode).compile_all()
        _ = self.has_rules

    def prune(self, obj: Any, *, unknown: list[str] | None = None, drop: bool = False) -> None:
        """Drop unknown fields in place, and coerce the metadata of embedded resources.

        unknown: receives the paths of dropped fields as a real server's warnings name them. drop: also drop malformed
        embedded metadata, for stored objects. The object's own apiVersion, kind and metadata are not changed. Raises
        Malformed.
        """
        if self.preserve:
            embedded.coerce_embedded(obj, self.node, unknown, drop)
        elif not self._get_walk(PRUNE)(obj):
            prune.prune_value(obj, self.node, unknown, embedded=True)
            embedded.coerce_embedded(obj, self.node, unknown, drop)

    def default(self, obj: Any) -> None:
        """Fill in defaults in place, and drop nulls that the schema does not allow. Raises TooLarge."""
        if not self.preserve and not defaulting.run_bounded(self._get_walk(FILL), obj):
            defaulting.drop_nulls(obj, self.node, prune.META)
            defaulting.fill_value(obj, self.node, prune.META)

    def drop_nulls(self, obj: Any, *, defaulted: bool = False) -> None:
        """Drop nulls that the schema does not allow, in place. defaulted: also those that a default replaces."""
        defaulting.drop_nulls(obj, self.node, prune.META, defaulted=defaulted)

    def fill(self, obj: Any) -> None:
        """Fill in defaults in place, and keep nulls, so that validation rejects them. Raises TooLarge."""
        if not self.preserve:
            defaulting.fill_value(obj, self.node, prune.META)

    def normalize(self, obj: Any, *, unknown: list[str] | None = None, drop: bool = True) -> None:
        """Prune and default in one walk, as when reading a stored object.

        The parameters are those of prune. Raises TooLarge if the defaults exceed `defaulting.MAX_DEFAULT_BYTES`.
        """
        if self.preserve or not defaulting.run_bounded(self._get_walk(NORMALIZE), obj):
            self.prune(obj, unknown=unknown, drop=drop)
            self.default(obj)

    def accepts(self, obj: Any) -> bool:
        """Prune and default as `normalize` does, check in the same walk, and return whether the object is valid.

        All values then also have the types of the schema, which managed fields require (fields/typed.py).
        Only metadata may change after that. False also if the other walks must decide: then call `normalize` or
        `default`.
        """
        return not self.preserve and defaulting.run_bounded(self._get_walk(ADMIT), obj)

    def validate(self, obj: Any, old: Any = None, more: Sequence[FieldError] = ()) -> list[FieldError]:
        """Return all errors of a pruned and defaulted object. old: the former object, for ratcheting.

        The object's own apiVersion, kind and metadata are checked only by the schema's declarations. more: errors to
        append.
        """
        if self._get_walk(CHECK)(obj):
            return [*more]
        return self._collect_errors(obj, old, more)

    def admit(
        self, obj: Any, old: Any = None, *, unknown: list[str] | None = None, drop: bool = False
    ) -> list[FieldError]:
        """Prune, default and validate. The parameters are those of prune and validate.

        Raises Malformed for embedded resources that cannot be read.
        """
        self.normalize(obj, unknown=unknown, drop=drop)
        return self.validate(obj, old)

    def status(self, obj: Any, old: Any = None, more: Sequence[FieldError] = ()) -> list[FieldError]:
        """Return all errors in the status of an object, as a write to /status checks it. more: as above."""
        if self._get_walk(CHECK)(obj):
            return [*more]
        node = self.node.find_child("status")
        errors: list[FieldError] = []
        if node is not None and isinstance(obj, dict) and "status" in obj:
            pair = None if old is None else ValuePair(obj, old, self.openapi).pair_field("status")
            errors = check.validate_value(obj["status"], node, ("status",) if has("StatusPaths") else (), pair)
        return self._add_unchecked([*errors, *more, *self._validate_lists(obj, old)])

    def validate_structure(self, obj: Any, old: Any = None) -> list[FieldError]:
        """Return the errors of embedded resources and list types only, without those of values."""
        return embedded.validate_embedded(obj, self.node) + self._validate_lists(obj, old)

    def _collect_errors(self, obj: Any, old: Any, more: Sequence[FieldError]) -> list[FieldError]:
        pair = None if old is None else ValuePair(obj, old, self.openapi)
        errors = [*check.validate_value(obj, self.node, pair=pair), *more]
        errors += embedded.validate_embedded(obj, self.node)
        return self._add_unchecked(errors + self._validate_lists(obj, old))

    def _add_unchecked(self, errors: list[FieldError]) -> list[FieldError]:
        """Add the error that rules were not checked, if invalid types prevent that, and return all errors."""
        if any(error.reason in BLOCKING for error in each(errors)) and self.has_rules:
            errors.append(UNCHECKED)
        return errors

    def _validate_lists(self, obj: Any, old: Any) -> list[FieldError]:
        errors = lists.validate_lists(obj, self.node)
        return [] if errors and old is not None and lists.validate_lists(old, self.node) else errors
