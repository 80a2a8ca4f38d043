"""The messages of structs: descriptors made at first use, and plans that encode and decode with them.

The protobuf package handles the wire format; this module converts between its message objects and JSON. A plan knows
one struct: the arguments of its message class (nested dicts, which the package fills in at C speed) and the meaning of
its set fields. Fields are named by their numbers, because names such as $ref are invalid in protobuf.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from google.protobuf import __version__, descriptor_pool, message_factory
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto
from google.protobuf.message import DecodeError, EncodeError

from podless.runtime.jsonobject import Object
from podless.runtime.meter import charge, each
from podless.runtime.sorting import sort_texts
from podless.structs.gotypes import STRING, GoType, ListOf, MapOf, Time
from podless.structs.protobuf_faults import WireField, describe_field, find_fault
from podless.structs.protobuf_forms import Blob, Budget, Decoder, Encoder, Form, check_text, find_form, find_scalar
from podless.structs.structs import TYPE_META, Field, Struct
from podless.structs.wire import ProtobufError

# bytes of unknown fields up to which they are checked; more are only skipped
_MAX_UNKNOWN_BYTES = 64 * 1024
_CHECK_STEPS = 1025  # steps on the meter after which sliced work can be suspended
_MALFORMED = "the protobuf message is malformed or nested too deep"
_PACKAGE = "podless"
# constructors accept this, and it is faster
_DICTS_IN_MAPS = tuple(int(part) for part in __version__.split(".")[:2]) >= (6, 30)
_ZERO_TIMES = frozenset({"creationTimestamp"})  # not pointers in Go, although JSON omits them when zero
_REPEATED, _OPTIONAL = FieldDescriptorProto.LABEL_REPEATED, FieldDescriptorProto.LABEL_OPTIONAL

_TYPE = Struct("TypeMeta", (Field("apiVersion", STRING, 1), Field("kind", STRING, 2)))
_ENCODED = (Field("contentEncoding", STRING, 3), Field("contentType", STRING, 4))
_UNKNOWN = Struct("Unknown", (Field("typeMeta", _TYPE, 1), Field("raw", Blob(), 2), *_ENCODED))


class _MessagePlace(NamedTuple):
    """The message of a struct. Structs of different groups or versions can have the same name."""

    file: str
    name: str


class _MessagePlan:
    """A compiled struct. cls: its message class. zeros: the constructor's default arguments."""

    def __init__(self, struct: Struct, cls: Any) -> None:
        self.struct = struct
        self.cls = cls
        self.zeros: Object = {}
        self.encoders: dict[str, tuple[str, Encoder | None]] = {}
        self.decoders: dict[int, tuple[str, Decoder | None, bool]] = {}
        self.inlined = tuple(field.name for field in _message_fields(struct) if field.inline)
        numbers = [field.number for field in _message_fields(struct)]
        # readers of set fields, by number; all fields of inline structs are one entry
        self.ordered = numbers == sorted(numbers) and not self.inlined

    def encode_fields(self, value: Object) -> Object:
        """Return the constructor's arguments for a value."""
        arguments = self.zeros.copy()
        encoders = self.encoders
        for name, item in value.items():
            if item is None or name not in encoders:
                continue
            key, encode = encoders[name]
            arguments[key] = item if encode is None else encode(item)
        for name in self.inlined:
            key, encode = encoders[name]
            assert encode is not None
            arguments[key] = encode(value)
        return arguments

    def decode_fields(self, message: Any, budget: Budget) -> Object:
        """Return the struct's fields in Go's order."""
        budget.count_message()
        decoders, struct = self.decoders, self.struct
        fields: Object = {}
        for descriptor, value in message.ListFields():
            name, decode, keep = decoders[descriptor.number]
            if not value and not keep:  # Go writes zero values too
                continue
            item = value if decode is None else decode(value, budget)
            if name in self.inlined:
                fields |= item
            elif item or (keep and item is not None):
                fields[name] = item
        missing = [field for field in struct.always_written if field.name not in fields]
        if self.ordered and not missing:
            return fields
        for field in missing:
            fields[field.name] = None if field.pointer else field.type.make_zero()
        return {name: fields[name] for name in sorted(fields, key=struct.field_ranks.__getitem__)}


class Messages:
    """The messages of all structs in use. Any number of threads may use it."""

    def __init__(self) -> None:
        self._pool = descriptor_pool.DescriptorPool()
        self._plans: dict[Struct, _MessagePlan] = {}
        self._forms: dict[GoType, Form | None] = {}
        self._places: dict[Struct, _MessagePlace] = {}
        self._lock = threading.Lock()

    def decode(self, struct: Struct, raw: bytes) -> Object:
        plan = self._get_plan(struct)
        message = self._parse_message(plan, raw)
        try:
            return plan.decode_fields(message, Budget())
        except (RecursionError, UnicodeDecodeError):
            raise ProtobufError(_MALFORMED) from None

    def encode(self, struct: Struct, obj: Object) -> bytes:
        plan = self._get_plan(struct)
        try:
            message = plan.cls(**plan.encode_fields(obj))
            charge(_CHECK_STEPS)  # two charges, because work inside C and sorting cannot be suspended
            encoded: bytes = message.SerializeToString(deterministic=True)
        except (AttributeError, TypeError, ValueError, EncodeError, RecursionError) as error:
            reason = "it is nested too deep" if isinstance(error, RecursionError) else error
            raise ProtobufError(f"the object cannot be written as protobuf: {reason}") from None
        return encoded

    def unwrap_envelope(self, raw: bytes) -> tuple[str, str, bytes]:
        """Return apiVersion, kind and contents of a runtime.Unknown."""
        message = self._parse_message(self._get_plan(_UNKNOWN), raw)
        meta, budget = message.f1, Budget()
        return check_text(meta.f1, budget), check_text(meta.f2, budget), message.f2

    def _parse_message(self, plan: _MessagePlan, raw: bytes) -> Any:
        """Return the message without its unknown fields. Raises ProtobufError, with Go's text unless it is too deep."""
        cls, fault = plan.cls, None
        try:
            message = cls.FromString(raw)
            message.DiscardUnknownFields()
            known_size = message.ByteSize()
            # the package takes a known field of another wire type as unknown
            if known_size != len(raw) and 0 < cls.FromString(raw).ByteSize() - known_size <= _MAX_UNKNOWN_BYTES:
                fault = find_fault(self._list_fields, plan.struct, raw)
        except (DecodeError, UnicodeDecodeError):  # the package checks some strings late, such as map keys
            fault = find_fault(self._list_fields, plan.struct, raw) or _MALFORMED
        if fault is not None:
            raise ProtobufError(fault)
        return message

    def _list_fields(self, struct: Struct) -> dict[int, WireField]:
        return {
            field.number: describe_field(struct, field, self._find_struct(item), item)
            for field in _message_fields(struct)
            for item in (_item_type(field.type),)
        }

    def _get_plan(self, struct: Struct) -> _MessagePlan:
        plan = self._plans.get(struct)
        if plan is None:
            with self._lock:
                plan = self._plans.get(struct) or self._build_plans(struct)
        return plan

    def _build_plans(self, struct: Struct) -> _MessagePlan:
        """Compile a struct and all that it contains. They are published when all are complete."""
        before = dict(self._places)
        missing = self._list_missing(struct)
        try:
            self._add_file(missing)
        except BaseException:  # the next caller tries again
            self._places = before
            raise
        plans = {member: _MessagePlan(member, self._get_class(member)) for member in missing}
        all_plans = self._plans | plans
        for plan in plans.values():
            for field in _message_fields(plan.struct):
                self._link_field(plan, field, all_plans)
        for plan in plans.values():
            _fill_zeros(plan, all_plans)
        self._plans = all_plans
        return all_plans[struct]

    def _list_missing(self, struct: Struct) -> list[Struct]:
        """Return a struct and those that it contains, itself first, as far as they have no message yet."""
        missing: dict[Struct, None] = {}
        pending = [struct]
        while pending:
            current = pending.pop()
            if current in self._places or current in missing:
                continue
            missing[current] = None
            pending += [
                child
                for field in _message_fields(current)
                if (child := self._find_struct(_item_type(field.type))) is not None
            ]
        return list(missing)

    def _find_struct(self, type_: GoType) -> Struct | None:
        """Return the struct that is the message of a type; None for scalars."""
        if isinstance(type_, Struct):
            return type_
        if type_ not in self._forms:
            self._forms[type_] = find_form(type_)
        form = self._forms[type_]
        return form.struct if form is not None else None

    def _add_file(self, missing: list[Struct]) -> None:
        """Add a file for the structs, which may refer to each other and to older files."""
        file = FileDescriptorProto(name=f"{len(self._places)}.proto", package=_PACKAGE, syntax="proto2")
        for struct in missing:
            self._places[struct] = _MessagePlace(file.name, f"{struct.name}_{len(self._places)}")
        needed: dict[str, None] = {}
        for struct in missing:
            message = file.message_type.add(name=self._places[struct].name)
            for field in _message_fields(struct):
                self._declare_field(message, field, needed)
        file.dependency.extend(name for name in needed if name != file.name)
        self._pool.AddSerializedFile(file.SerializeToString())

    def _declare_field(self, message: DescriptorProto, field: Field, needed: dict[str, None]) -> None:
        type_, item = field.type, _item_type(field.type)
        target = message.field.add(name=f"f{field.number}", number=field.number)
        target.label = _REPEATED if isinstance(type_, ListOf | MapOf) else _OPTIONAL
        if isinstance(type_, MapOf):
            entry = message.nested_type.add(name=f"F{field.number}Entry")
            entry.options.map_entry = True
            entry.field.add(name="key", number=1, label=_OPTIONAL, type=FieldDescriptorProto.TYPE_STRING)
            target.type = FieldDescriptorProto.TYPE_MESSAGE
            target.type_name = f".{_PACKAGE}.{message.name}.{entry.name}"
            target = entry.field.add(name="value", number=2, label=_OPTIONAL)
        child, scalar = self._find_struct(item), find_scalar(item)
        if child is not None:
            message_place = self._places[child]
            target.type = FieldDescriptorProto.TYPE_MESSAGE
            target.type_name = f".{_PACKAGE}.{message_place.name}"
            needed[message_place.file] = None
        elif scalar is not None:
            target.type = scalar.wire
        else:
            raise NotImplementedError(f"{item.go} has no form in protobuf")

    def _get_class(self, struct: Struct) -> Any:
        name = f"{_PACKAGE}.{self._places[struct].name}"
        return message_factory.GetMessageClass(self._pool.FindMessageTypeByName(name))

    def _link_field(self, plan: _MessagePlan, field: Field, plans: Mapping[Struct, _MessagePlan]) -> None:
        """Set how a field is written and read."""
        type_ = field.type
        item = _item_type(type_)
        encode, decode = self._make_codec(item, plans)
        # how a null in a list or map is written; the tables give "" for strings and so on, but nothing for bytes
        empty = b"" if find_scalar(item) is not None else {}
        if isinstance(type_, ListOf):
            encode, decode = _make_list_codec(encode, decode, empty)
        elif isinstance(type_, MapOf):
            child = self._find_struct(item)
            if child is not None and encode is not None and not _DICTS_IN_MAPS:
                encode, empty = _make_writer(plans[child].cls, encode), plans[child].cls()
            encode, decode = _make_map_codec(encode, decode, empty)
        keep = field.pointer or field.always or isinstance(type_, Struct)
        plan.encoders[field.name] = f"f{field.number}", encode
        plan.decoders[field.number] = field.name, decode, keep

    def _make_codec(self, item: GoType, plans: Mapping[Struct, _MessagePlan]) -> tuple[Encoder | None, Decoder | None]:
        if isinstance(item, Struct):
            return plans[item].encode_fields, plans[item].decode_fields
        form = self._forms.get(item)
        if form is None:
            plain = find_scalar(item)
            return (plain.encode, plain.decode) if plain is not None else (None, None)
        plan, to_fields, from_fields = plans[form.struct], form.encode, form.decode
        return (
            lambda value: plan.encode_fields(to_fields(value)),
            lambda message, budget: from_fields(plan.decode_fields(message, budget)),
        )


def _message_fields(struct: Struct) -> list[Field]:
    """Return the fields of the message. An object's own kind and apiVersion are in the envelope."""
    return [field for field in struct.declared_fields if field.number and not any(field is own for own in TYPE_META)]


def _item_type(type_: GoType) -> GoType:
    return type_.item if isinstance(type_, ListOf | MapOf) else type_


def _fill_zeros(plan: _MessagePlan, plans: Mapping[Struct, _MessagePlan]) -> Object:
    """Return the values that are written even if they are not given: those of all fields that are not pointers.

    Times are an exception unless JSON always has them, too: the tables do not say which are pointers. To a reader, a
    missing time equals the zero time, but a zero deletionTimestamp would mean a deletion.
    """
    for field in _message_fields(plan.struct):
        if field.pointer:
            continue
        key, plain = f"f{field.number}", find_scalar(field.type)
        if isinstance(field.type, Struct):
            plan.zeros[key] = _fill_zeros(plans[field.type], plans)
        elif isinstance(field.type, Time) and (field.always or field.name in _ZERO_TIMES):
            plan.zeros[key] = {}
        elif plain is not None and plain.zero is not None:
            plan.zeros[key] = plain.zero
    return plan.zeros


def _make_writer(cls: Any, encode: Encoder) -> Encoder:
    return lambda item: cls(**encode(item))


def _make_list_codec(encode: Encoder | None, decode: Decoder | None, empty: Any) -> tuple[Encoder | None, Decoder]:
    def encode_all(items: list[Any]) -> list[Any]:
        assert encode is not None
        return [empty if item is None else encode(item) for item in each(items)]

    def decode_all(items: Collection[Any], budget: Budget) -> list[Any]:
        return list(items) if decode is None else [decode(item, budget) for item in each(items)]

    return encode_all if encode is not None else None, decode_all


def _make_map_codec(encode: Encoder | None, decode: Decoder | None, empty: Any) -> tuple[Encoder | None, Decoder]:
    def encode_all(items: Object) -> Object:
        assert encode is not None
        return {key: empty if item is None else encode(item) for key, item in each(items).items()}

    def decode_all(items: Mapping[Any, Any], budget: Budget) -> Object:
        if not all(type(key) is str for key in each(items)):  # the package does not find them again
            raise ProtobufError("the protobuf message has a key that is not UTF-8")
        keys = sort_texts(list(items))
        return {key: items[key] if decode is None else decode(items[key], budget) for key in keys}

    return encode_all if encode is not None else None, decode_all
