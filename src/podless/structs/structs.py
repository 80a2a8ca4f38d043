"""Tables of Go API structs, and decoding of JSON by them.

`decode_struct` returns a JSON value as a Go server has it after decoding it into the struct and encoding it. Fields are
in the struct's order, maps are sorted by key, and nulls and empty optional fields are removed. Unknown fields are
dropped and named. Errors are in the words of Go's encoding/json. Source: sigs.k8s.io/json, as recorded; names are
case-sensitive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import is_
from typing import Any

from podless.runtime.dataclass import dataclass
from podless.runtime.memo import made_once, remember_value
from podless.runtime.meter import MAX_UNCHARGED, charge, each
from podless.runtime.release import has
from podless.structs.gotypes import (
    STRING,
    GoType,
    KeylessPaths,
    ListOf,
    MapOf,
    Mismatch,
    NumberMismatch,
    Raw,
    Union,
    find_worst,
)

# the properties of Struct that are computed at first use
_LAZY = ("fields", "embedded_names", "declared_fields", "decode_plan", "field_ranks", "off_gates", "always_written")
# maximum unknown fields that the strict decoder reports
MAX_UNKNOWN = 100


class DecodeError(ValueError):
    """A JSON value does not fit its struct; the text is Go's."""


class NumberError(DecodeError):
    """A number does not fit. The text shows it as it was decoded, which can differ from how it was sent."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a struct."""

    name: str
    type: GoType
    number: int = 0  # number of the field in protobuf, 0 for none
    pointer: bool = False  # given zero values are kept
    # written even if it is empty (no omitempty); a pointer as null. A struct that is not a pointer is always written.
    always: bool = False
    inline: bool = False  # the fields of this struct are fields of the outer one; only protobuf has a message for it
    required: bool | None = None  # whether documents call it required, if that differs from `always`
    default: str | int | None = None  # the default in documents, if it is not the zero value; it is also filled in
    fill: Any = None  # filled in if the field is left out, without a mention in documents
    # merging
    keys: tuple[str, ...] | None = None  # the keys of a list's items, () for a set, None for a list that is one leaf
    atomic: bool | None = None  # a map or struct that is one leaf (True), or is none though its type is (False)
    patch: str = ""  # the strategy of a strategic merge patch ("merge", "retainKeys", "merge,retainKeys")
    merge: str = ""  # the merge key of its list items, "" for plain values
    # the feature gate of the field where it is off, "" otherwise; decoding keeps the field and a write drops it
    # (structs/gated.py)
    gate: str = ""


class Struct(GoType):
    """A Go struct. fields: in Go's order, or a function that returns them at first use.

    package: the prefix of the name in messages. atomic: one leaf in merges. union: the field that names the member that
    is set, "" for none, and the members. recursive: it contains itself. home: the group-version whose file describes it
    (structs/structfiles.py), such as core/v1; "" for none.
    """

    nested = True

    def __init__(
        self,
        name: str,
        fields: tuple[Field, ...] | Callable[[], tuple[Field, ...]],
        package: str = "v1",
        *,
        atomic: bool = False,
        union: tuple[str, tuple[str, ...]] | None = None,
        recursive: bool = False,
        home: str = "",
    ) -> None:
        self.name = name
        self.atomic = atomic
        self.union = union
        self._derived: dict[str, Any] = {}
        self.go = f"{package}.{name}"
        self.field_source = fields
        self.home = home
        self.recursive = recursive

    def __iter__(self) -> Iterator[Field]:
        return iter(self.fields)

    def derive_value(self, key: str, make: Callable[[], Any]) -> Any:
        """Return a value that is computed once for each key of this struct, and kept with it."""
        try:
            return self._derived[key]
        except KeyError:
            return remember_value(self._derived, key, make)

    @made_once
    def fields(self) -> tuple[Field, ...]:
        """Return the fields in Go's order, including those of inline structs."""
        results: list[Field] = []
        for field in self.declared_fields:
            results += field.type.fields if field.inline and isinstance(field.type, Struct) else (field,)
        return tuple(results)

    @made_once
    def embedded_names(self) -> dict[str, str]:
        """Return the fields of inline structs -> the name that messages show, such as Rule.resources."""
        result: dict[str, str] = {}
        for field in self.declared_fields:
            if field.inline and isinstance(field.type, Struct):
                nested = field.type.embedded_names
                names = [member.name for member in field.type.fields]
                result |= {name: f"{field.type.name}.{nested.get(name, name)}" for name in names}
        return result

    def format_field(self, key: str) -> str:
        """Return the name of a field in messages."""
        return (self.embedded_names.get(key) or key) if has("WholeDecodePaths") else key

    @made_once
    def declared_fields(self) -> tuple[Field, ...]:
        """Return the fields as declared, and as in protobuf: an inline struct is one field."""
        return self.field_source if isinstance(self.field_source, tuple) else self.field_source()

    @made_once
    def decode_plan(self) -> dict[str, tuple[GoType, bool, str | None, int, type | None]]:
        """Return the data that decoding needs, by field.

        Its type, whether it is kept when empty, the text that joins it to unknown fields in it, its position, and the
        class of values that are kept unchanged.
        """
        return {
            field.name: (
                field.type,
                field.pointer or field.always or isinstance(field.type, Struct),
                field.type.joint if field.type.nested else None,
                index,
                field.type.plain,
            )
            for index, field in enumerate(self.fields)
        }

    @made_once
    def field_ranks(self) -> dict[str, int]:
        """Return the position of each field, by name."""
        return {field.name: index for index, field in enumerate(self.fields)}

    @made_once
    def off_gates(self) -> frozenset[str]:
        """Return the feature gates that are off and have fields in this struct or in structs in it."""
        gates: set[str] = set()
        todo, visited = [self], {id(self)}
        while todo:
            for field in todo.pop().declared_fields:
                gates.update([field.gate] if field.gate else ())
                structs = [struct for struct in _structs_within(field.type) if id(struct) not in visited]
                visited.update(map(id, structs))
                todo += structs
        return frozenset(gates)

    @made_once
    def always_written(self) -> tuple[Field, ...]:
        """Return the fields that are written even if they are not given."""
        return tuple(
            field for field in self.fields if field.always or (isinstance(field.type, Struct) and not field.pointer)
        )

    def read_value(self, value: Any, unknown: list[str]) -> Any:
        if type(value) is not dict:
            self.reject_value(value)
        plan, result, recursive = self.decode_plan, {}, self.recursive
        if len(value) > MAX_UNCHARGED:
            charge(len(value))
        last, ordered = -1, True
        for key, item in value.items():
            entry = plan.get(key)
            if entry is None:
                if len(unknown) < MAX_UNKNOWN:
                    unknown.append(key)
                continue
            kind, keep, joint, position, plain = entry
            if item.__class__ is not plain:
                if item is None:
                    continue
                if recursive:  # there can be many small values
                    charge(len(item) if item.__class__ is dict else 1)
                start = len(unknown)
                try:
                    item = kind.read_value(item, unknown)
                except Mismatch as error:
                    error.prepend_field(self.name, self.format_field(key))
                    raise
                if joint is not None and len(unknown) > start:
                    unknown[start:] = [f"{key}{joint}{path}" for path in unknown[start:]]
                if item is None:  # a zero time, or a value of another type that is dropped
                    continue
            if item or keep:
                result[key] = item
                if position < last:
                    ordered = False
                last = position
        for field in self.always_written:
            if field.name not in result:
                result[field.name] = None if field.pointer else field.type.make_zero()
                ordered = False
        if ordered:
            return result
        return {key: result[key] for key in sorted(result, key=self.field_ranks.__getitem__)}

    def make_zero(self) -> Any:
        return self.read_value({}, [])

    def raise_fatal(self, value: Any) -> None:
        for key, item in each(value).items() if type(value) is dict else ():
            entry = self.decode_plan.get(key)
            if entry is None or item is None:
                continue
            try:
                entry[0].raise_fatal(item)
            except Mismatch as error:
                error.prepend_field(self.name, self.format_field(key))
                raise


# fields of every object, before its metadata
TYPE_META = (Field("kind", STRING, 1), Field("apiVersion", STRING, 2))


def decode_struct(struct: Struct, value: Any, unknown: list[str] | None = None) -> dict[str, Any]:
    """Return the value as a Go server has it after decoding it into the struct; the given value is not changed.

    unknown: the paths of unknown fields are appended to it, such as spec.versions[0].foo; without the keys of maps if
    it is a KeylessPaths. None is an empty struct.
    Raises DecodeError where a value has the wrong type: the first one in the order of the document.
    """
    paths: list[str] = KeylessPaths() if type(unknown) is KeylessPaths else []
    try:
        result: dict[str, Any] = struct.read_value({} if value is None else value, paths)
    except Mismatch as error:
        raise _make_error(find_worst(struct, value, error)) from None
    except RecursionError:
        raise DecodeError("exceeded max depth") from None
    if unknown is not None and paths:
        unknown.extend(paths[:MAX_UNKNOWN])
    return result


def _make_error(mismatch: Mismatch) -> DecodeError:
    """Return the error of a mismatch. It must not refer to the frames it passed (tests/http/test_garbage.py)."""
    return (NumberError if isinstance(mismatch, NumberMismatch) else DecodeError)(str(mismatch))


def arrange_fields(struct: Struct, obj: dict[str, Any]) -> dict[str, Any]:
    """Return an object with the fields of all its structs in order; the same object if they are already."""
    ranks, last, ordered, changed = struct.field_ranks, -1, True, None
    for name, child in _list_struct_fields(struct):
        value = obj.get(name)
        if not value:
            continue
        if child.__class__ is Struct:
            new: Any = arrange_fields(child, value)
        else:
            if len(value) > MAX_UNCHARGED:
                charge(len(value))
            new = [arrange_fields(child.item, element) for element in value]
            new = value if all(map(is_, new, value)) else new
        if new is not value:
            changed = {} if changed is None else changed
            changed[name] = new
    for name in obj:
        rank = ranks.get(name, last)
        if rank < last:
            ordered = False
            break
        last = rank
    if ordered and changed is None:
        return obj
    result = obj if changed is None else {**obj, **changed}
    return result if ordered else dict(sorted(result.items(), key=lambda item: ranks.get(item[0], -1)))


def complete_struct(struct: Struct) -> None:
    """Compute all lazy values of a struct and of the structs in it."""
    todo: list[GoType] = [struct]
    seen: set[int] = set()
    while todo:
        charge(1)
        kind = todo.pop()
        if id(kind) in seen:
            continue
        seen.add(id(kind))
        if isinstance(kind, Struct):
            for name in _LAZY:
                getattr(kind, name)
            _list_struct_fields(kind)
            todo.extend(field.type for field in (*kind.fields, *kind.declared_fields))
        elif isinstance(kind, ListOf | MapOf):
            todo.append(kind.item)
        elif isinstance(kind, Union):
            todo.extend(form for form in kind.forms.values() if form is not None)


def raw_fields(struct: Struct) -> tuple[str, ...]:
    """Return the fields that may hold any JSON, which are kept as they are."""
    return tuple(field.name for field in struct if type(field.type) is Raw)


def _structs_within(kind: GoType) -> Iterator[Struct]:
    """Yield the structs in values of a type, without structs inside these."""
    while isinstance(kind, ListOf | MapOf):
        kind = kind.item
    if isinstance(kind, Struct):
        yield kind
    elif isinstance(kind, Union):
        for form in filter(None, kind.forms.values()):
            yield from _structs_within(form)


def _list_struct_fields(struct: Struct) -> list[tuple[str, Any]]:
    """Return the fields that are structs, or lists of them."""
    results: list[tuple[str, Any]] = struct.derive_value("held", lambda: list(_find_structs(struct)))
    return results


def _find_structs(struct: Struct) -> Iterator[tuple[str, Any]]:
    for field in struct.fields:
        kind = field.type
        if isinstance(kind, Struct) or (isinstance(kind, ListOf) and isinstance(kind.item, Struct)):
            yield field.name, kind
