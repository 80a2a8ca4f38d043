"""How values are merged: a schema as maps with named fields, lists with keys, sets, and leaves.

Source: k8s.io/kube-openapi schemaconv (the meaning of schemas) and sigs.k8s.io/structured-merge-diff typed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple

from podless.fields.sets import LEAF, SELF, Fields
from podless.runtime.bounded import bounded_cache
from podless.runtime.memo import fill_attribute, own_table, remember_value
from podless.runtime.meter import charge
from podless.structs import gotypes
from podless.structs.gotypes import GoType, ListOf, MapOf
from podless.structs.structfiles import load_struct
from podless.structs.structs import Field, Struct

OBJECT_META = load_struct("meta/v1", "ObjectMeta")

# fields that no manager owns
UNOWNED: Fields = {
    "f:apiVersion": LEAF,
    "f:kind": LEAF,
    "f:metadata": {
        SELF: LEAF, "f:name": LEAF, "f:namespace": LEAF, "f:creationTimestamp": LEAF, "f:selfLink": LEAF, "f:uid": LEAF,
        "f:clusterName": LEAF, "f:generation": LEAF, "f:managedFields": LEAF, "f:resourceVersion": LEAF,
    },
}  # fmt: skip

NONE = type(None)
SCALARS: Mapping[str, frozenset[type]] = {
    "numeric": frozenset({int, float, NONE}),
    "string": frozenset({str, NONE}),
    "boolean": frozenset({bool, NONE}),
    "untyped": frozenset({int, float, str, bool, NONE}),
}
_UNOWNED = {SELF: LEAF, **UNOWNED}
_NULL = frozenset({NONE})
_NO_TYPES: frozenset[type] = frozenset()
_DICTS = frozenset({dict})
_TEXTS = frozenset({str})
_VALUES_OF, _TYPES_OF = dict.values, partial(map, type)
_MAX_PLANS = 8  # cached plans of one map shape
_NEW_SHAPE = 64  # steps to make the shape of a field, once for each field: about 35 us
_MAX_PLANNED = 32  # maximum fields of a value with a plan
# texts whose JSON is the text itself, also in Go, which escapes characters of HTML
PLAIN_TEXT = re.compile(r"[ !#-%'-;=?-\[\]-~]*+").fullmatch


class SchemaMisfit(Exception):
    """A value does not fit its schema, or does not exist in a version; the text says where and why."""


class Shape:
    """What a value may be: any of a scalar, a list and a map.

    The scalar type is numeric, string, boolean, untyped or "". types: the Python types that are leaves of this shape.
    single: only one of the three is allowed. decoded: a struct has read the values, so they fit this shape except for
    duplicate items.
    """

    __slots__ = ("decoded", "list", "map", "scalar", "single", "types")

    def __init__(self, scalar: str = "", list: ListShape | None = None, map: MapShape | None = None) -> None:
        self.decoded = False
        self.scalar = scalar
        self.list = list
        self.map = map
        self.types = SCALARS[scalar] if scalar else _NULL
        self.single = bool(scalar) + (list is not None) + (map is not None) == 1

    def find_form(self, value: Any) -> str:
        """Return how a value is treated: as map, list or scalar. Null is the first allowed of map, scalar, list."""
        kind = type(value)
        if kind is list and self.list is not None:
            return "list"
        if self.map is not None and (kind is dict or value is None or not self.scalar):
            return "map"
        return "scalar" if self.scalar else "list"


Make = Callable[[Any], Shape]
# the form of a map: names of its fields, and their types
FieldTypes = tuple[tuple[str, ...], tuple[type, ...]]


class ListShape:
    """A list. keys: the fields that identify its items. associative: items are identified by keys or by their value.

    A list that is not associative is one leaf. key: the only key, "" if there are others; lead: the start of path
    elements with it, "" if its JSON needs escapes.
    """

    __slots__ = ("_item", "_make", "_shape", "associative", "key", "keys", "lead")

    def __init__(self, item: Any, make: Make, associative: bool = False, keys: tuple[str, ...] = ()) -> None:
        self._item = item
        self._make = make
        self._shape: Shape | None = None
        self.associative = associative
        self.keys = keys
        self.key = keys[0] if len(keys) == 1 else ""
        self.lead = f'k:{{"{self.key}":"' if self.key and PLAIN_TEXT(self.key) else ""

    @property
    def item(self) -> Shape:
        """The shape of the items, made at first use."""
        shape = self._shape
        return shape if shape is not None else fill_attribute(self, "_shape", lambda: self._make(self._item))


class MapPlan(NamedTuple):
    """The precomputed sets for all values of a map with the same fields and the same types of items."""

    leaves: Fields  # the set of the fields that are leaves, without unowned fields
    # name, path element and shape of the other fields; and the map of the shape, if they are maps that are no leaves
    nested: list[tuple[str, str, Shape, MapShape | None]]
    names: tuple[str, ...]  # names of the fields that are leaves
    read: Callable[[Mapping[str, Any]], tuple[Any, ...]] | None  # returns their values, None if one of them is null
    types: tuple[type, ...]  # types of these values
    texts: bool  # whether all of them are texts


class NodePlan(NamedTuple):
    """The precomputed node of all values of a map with the same fields, if they fit its shape."""

    marked: Fields  # the node without the members of its fields, and without unowned fields
    # name and path element of the fields that can have members, and their map and list, None for none
    nested: list[tuple[str, str, MapShape | None, ListShape | None]]


class _Children(dict[str, tuple[str, "Shape", bool]]):
    """The results of `MapShape.find_child` for declared fields, each made at the first use.

    It does not refer to the map shape, because that would make a reference cycle.
    """

    __slots__ = ("_make", "declared")

    def __init__(self, declared: Mapping[str, Any], make: Make) -> None:
        self.declared = declared
        self._make = make

    def __missing__(self, name: str) -> tuple[str, Shape, bool]:
        charge(_NEW_SHAPE)
        return remember_value(self, name, lambda: (f"f:{name}", self._make(self.declared[name]), True))


class _Plans(dict[Any, Any]):
    """The plans of a map, made at the first use; None for values with undeclared fields, and if there are too many.

    The keys are the names of the fields.
    """

    __slots__ = ("_children", "_unowned")

    def __init__(self, children: _Children, unowned: Fields) -> None:
        self._children = children
        self._unowned = unowned

    def __missing__(self, key: Any) -> Any:
        declared, names = self._children.declared, self._get_names(key)
        if not declared or len(names) > _MAX_PLANNED:
            return None
        plans = own_table(self)
        plan = plans.get(key)
        if plan is None and len(plans) < _MAX_PLANS and declared.keys() >= set(names):
            plan = plans[key] = self._make_plan(key)
        return plan

    def _get_names(self, key: Any) -> Any:
        return key

    def _make_plan(self, names: tuple[str, ...]) -> Any:
        marked: Fields = {} if SELF in self._unowned else {SELF: LEAF}
        nested: list[tuple[str, str, MapShape | None, ListShape | None]] = []
        for key in names:
            name, shape, _ = self._children[key]
            if self._unowned.get(name) == LEAF:
                continue
            marked[name] = LEAF
            map_form = shape.map if shape.map is not None and not shape.map.atomic else None
            list_form = shape.list if shape.list is not None and shape.list.associative else None
            if map_form is not None or list_form is not None:
                nested.append((key, name, map_form, list_form))
        return NodePlan(marked, nested)


class _TypedPlans(_Plans):
    """Plans by `FieldTypes`."""

    __slots__ = ()

    def _get_names(self, key: Any) -> Any:
        return key[0]

    def _make_plan(self, key: Any) -> MapPlan | None:
        """Return a new plan for values with these declared fields. None if a field that is unowned is no leaf."""
        names, types = key
        leaves: dict[str, type] = {}
        nested: list[tuple[str, str, Shape, MapShape | None]] = []
        for field, kind in zip(names, types, strict=True):
            name, shape, _ = self._children[field]
            form = shape.map
            if kind in shape.types:
                leaves[field] = kind
            elif name in self._unowned and not self._unowned[name]:
                return None
            else:
                nested.append((field, name, shape, form if kind is dict and form and not form.atomic else None))
        owned = {name: node for name, node in name_leaves(leaves).items() if name not in self._unowned}
        names, types = tuple(leaves), tuple(leaves.values())
        read = None if NONE in types else _make_reader(names)
        return MapPlan(owned, nested, names, read, types, _TEXTS.issuperset(types))


class MapShape:
    """A map.

    declared: field name -> source of its shape. element: the source for all other fields, None if there may be none. An
    atomic map is one leaf. defaults: of fields that may be keys of a list. unowned: members that its set never has.
    children: results of `find_child` for declared fields. plans: by fields and types, node_plans: by fields; use
    them only if fields are declared. leaves: the types of items that are leaves, whatever the fields; empty if the map
    declares any.
    """

    __slots__ = (
        "_element", "_make", "_owned", "atomic", "children", "declared", "defaults", "leaves", "node_plans", "plans",
        "unowned",
    )  # fmt: skip

    plans: dict[FieldTypes, MapPlan | None]
    node_plans: dict[tuple[str, ...], NodePlan | None]

    def __init__(
        self,
        declared: Mapping[str, Any],
        make: Make,
        element: Any = None,
        atomic: bool = False,
        defaults: Mapping[str, Any] | None = None,
        unowned: Fields = LEAF,
    ) -> None:
        self.declared = declared
        self._make = make
        self._element = element
        self._owned: Shape | None = None
        self.children = _Children(declared, make)
        self.plans = _TypedPlans(self.children, unowned)
        self.node_plans = _Plans(self.children, unowned)
        self.atomic = atomic
        self.defaults = defaults or {}
        self.unowned = unowned
        self.leaves = element.types if not declared and type(element) is Shape else _NO_TYPES

    def find_child(self, name: str) -> tuple[str, Shape | None, bool]:
        """Return a field's path element, its shape (None if it is not allowed), and whether it is declared."""
        cached = self.children.get(name)
        if cached is not None:
            return cached
        if name in self.declared:
            return self.children[name]
        return f"f:{name}", self.element, False

    @property
    def element(self) -> Shape | None:
        """The shape of the undeclared fields, None if there may be none."""
        element = self._element
        if element is not None and not isinstance(element, Shape):
            result: Shape = fill_attribute(self, "_element", lambda: self._make(element))
            return result
        return element

    @property
    def free(self) -> bool:
        """Whether fields have any name and type."""
        return not self.declared and self.element is DEDUCED

    @property
    def owned(self) -> Shape:
        """The shape of an object, of which `collect_created` leaves out the fields that no manager owns."""
        owned = self._owned
        return owned if owned is not None else fill_attribute(self, "_owned", lambda: self._leave_out_unowned(_UNOWNED))

    def _leave_out_unowned(self, unowned: Fields) -> Shape:
        children = self.children

        def make_shape(name: str) -> Shape:
            shape, nested = children[name][1], unowned.get(f"f:{name}")
            return shape.map._leave_out_unowned(nested) if nested and shape.map is not None else shape

        declared = {name: name for name in self.declared}
        return Shape(map=MapShape(declared, make_shape, self.element, self.atomic, unowned=unowned))

    def plan_all(self, items: list[Any]) -> MapPlan | None:
        """Return the plan for all items of a list if they have equal fields of equal types, all of them leaves.

        None also if that plan is not cached. There is no loop in Python here, because most lists are like this.
        """
        if not self.plans or not items or not _DICTS.issuperset(map(type, items)):
            return None
        first = items[0]
        plan = self.plans.get((tuple(first), tuple(map(type, first.values()))))
        if plan is None or plan.nested:
            return None
        is_equal = len(set(map(tuple, items))) == 1 == len(set(map(tuple, map(_TYPES_OF, map(_VALUES_OF, items)))))
        return plan if is_equal else None


def _make_reader(names: Sequence[str]) -> Callable[[Mapping[str, Any]], tuple[Any, ...]]:
    """Return a function that returns the values of some fields. It raises KeyError if one is missing."""
    if len(names) > 1:
        return itemgetter(*names)
    return (lambda value: (value[names[0]],)) if names else (lambda _: ())


def complete_shape(shape: Shape) -> None:
    """Make the shapes of everything below the shape of an object."""
    todo: list[Shape | None] = [shape, shape.map.owned if shape.map is not None else None]
    visited: set[int] = set()
    while todo:
        charge(1)
        next_shape = todo.pop()
        if next_shape is None or id(next_shape) in visited:
            continue
        visited.add(id(next_shape))
        if next_shape.list is not None:
            todo.append(next_shape.list.item)
        if (form := next_shape.map) is not None:
            todo += (form.children[name][1] for name in form.declared)
            todo += (form.element, form._owned)


def _get_shape(shape: Shape) -> Shape:
    return shape


UNTYPED = Shape("untyped")
UNTYPED.list = ListShape(UNTYPED, _get_shape)
UNTYPED.map = MapShape({}, _get_shape, UNTYPED, atomic=True)
UNTYPED.single = False
# unknown content: its maps are merged field by field, its lists are leaves
DEDUCED = Shape("untyped")
DEDUCED.list = ListShape(UNTYPED, _get_shape)
DEDUCED.map = MapShape({}, _get_shape, DEDUCED)
DEDUCED.single = False

_PRIMITIVES = {"integer": "numeric", "number": "numeric", "boolean": "boolean"}
_SCALAR_TYPES = frozenset({"string", *_PRIMITIVES})
_META = object()  # placeholder for the schema of ObjectMeta


def schema_shape(openapi: dict[str, Any] | None, preserve: bool = False) -> Shape:
    """Return the shape of a custom kind's objects from one version's openAPIV3Schema, which is read when needed.

    preserve: fields that the schema does not know are kept at every level.
    """
    schema = openapi or {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return _read_schema({**schema, "x-kubernetes-embedded-resource": True}, preserve)


def _read_schema(raw: Any, preserve: bool) -> Shape:
    if raw is _META:
        return struct_shape(OBJECT_META)
    preserve = preserve or raw.get("x-kubernetes-preserve-unknown-fields") is True
    kind = raw.get("type") or ""
    if kind == "string":
        return Shape("string" if raw.get("format", "") in ("", "byte") else "untyped")
    if kind in _PRIMITIVES:
        return Shape(_PRIMITIVES[kind])
    return Shape(
        scalar="" if kind else "untyped",
        list=_read_list(raw, preserve) if kind != "object" else None,
        map=_read_map(raw, preserve) if kind != "array" else None,
    )


def _read_list(raw: dict[str, Any], preserve: bool) -> ListShape:
    relation = raw.get("x-kubernetes-list-type")
    keys = tuple(raw.get("x-kubernetes-list-map-keys") or ()) if relation == "map" else ()
    items = raw.get("items")
    if items is None:
        return ListShape(UNTYPED, _get_shape, relation in ("set", "map"), keys)
    return ListShape(items, lambda item: _read_schema(item, preserve), relation in ("set", "map"), keys)


def _read_map(raw: dict[str, Any], preserve: bool) -> MapShape:
    declared = raw.get("properties") or {}
    rest = raw.get("additionalProperties")
    element: Any = rest if isinstance(rest, dict) else None
    if element is not None and element.get("type") in _SCALAR_TYPES:
        element = _read_schema(element, preserve)  # now, because then `leaves` is known
    if rest is True or (rest is None and (preserve or not declared)):
        element = DEDUCED
    defaults = {name: item["default"] for name, item in declared.items() if item.get("default") is not None}
    if raw.get("x-kubernetes-embedded-resource"):
        text = {"type": "string"}
        declared = {**declared, "apiVersion": text, "kind": text, "metadata": _META}
    atomic = raw.get("x-kubernetes-map-type") == "atomic"
    return MapShape(declared, lambda item: _read_schema(item, preserve), element, atomic, defaults)


@bounded_cache(1024)
def struct_shape(struct: Struct) -> Shape:
    """Return the shape of a built-in kind's objects."""
    return _read_struct(struct, struct.atomic)


def _read_struct(struct: Struct, atomic: bool) -> Shape:
    declared = {field.name: field for field in struct}
    defaults = {field.name: field.type.make_zero() for field in struct if field.always and not field.type.nested}
    defaults |= {field.name: field.default for field in struct if field.default is not None}
    shape = Shape(map=MapShape(declared, _read_field, None if declared else DEDUCED, atomic, defaults))
    shape.decoded = True
    return shape


def _read_field(field: Field) -> Shape:
    kind = field.type
    if isinstance(kind, ListOf):
        shape = Shape(list=ListShape(kind.item, _read_type, field.keys is not None, field.keys or ()))
        shape.decoded = True
        return shape
    if field.atomic and isinstance(kind, MapOf):
        return Shape(map=MapShape({}, _read_type, _read_type(kind.item), atomic=True))
    if field.atomic is not None and isinstance(kind, Struct):
        return _read_struct(kind, field.atomic)
    return _read_type(kind)


def _read_type(kind: GoType) -> Shape:
    if isinstance(kind, Struct):
        return struct_shape(kind)
    if isinstance(kind, ListOf):
        return Shape(list=ListShape(kind.item, _read_type))
    if isinstance(kind, MapOf):
        return Shape(map=MapShape({}, _read_type, _read_type(kind.item)))
    if isinstance(kind, gotypes.String | gotypes.Bytes):
        return Shape("string")
    if isinstance(kind, gotypes.Int | gotypes.Float):
        return Shape("numeric")
    if isinstance(kind, gotypes.Bool):
        return Shape("boolean")
    if isinstance(kind, gotypes.Time | gotypes.Quantity):
        return Shape("untyped")
    return UNTYPED if kind is gotypes.RAW else DEDUCED  # OpenAPI publishes types that decode themselves without a type


def name_leaves(value: Iterable[str]) -> Fields:
    """Return the set of fields with these names, all of them leaves."""
    return {f"f:{name}": LEAF for name in value}
