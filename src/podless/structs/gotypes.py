"""The types of fields in Go's API structs, and how they read JSON values.

`GoType.read_value` returns a JSON value as a Go server has it after decoding and encoding it. Errors have the texts of
Go's encoding/json. Source: sigs.k8s.io/json, as recorded.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from podless.codec import gobase64, gotext, gotime, quantity
from podless.codec.gotext import MAX_INT64, MIN_INT64
from podless.runtime.memo import made_once
from podless.runtime.meter import MAX_UNCHARGED, charge, each
from podless.runtime.release import has
from podless.runtime.sorting import sort_texts

# Go's names of the JSON types in messages
JSON_NAMES = {str: "string", bool: "bool", int: "number", float: "number", list: "array", dict: "object"}


def explain_unmarshal(value: Any, target: str = "value of type map[string]interface {}") -> str:
    """Return the error of Go's encoding/json for a value of another JSON type than its target in Go."""
    return f"json: cannot unmarshal {JSON_NAMES[type(value)]} into Go {target}"


class Mismatch(Exception):
    """A value of the wrong JSON type, raised up to its struct.

    value: what was found ("string", "number 1.5"). go: the Go type that was expected. text: the whole message, if the
    type has its own. fatal: raised by a type that decodes itself, which ends the decoding. Other mismatches are only
    recorded, and a fatal one replaces them.
    """

    def __init__(self, value: str, go: str, text: str = "", fatal: bool = False) -> None:
        super().__init__(value, go, text)
        self.value, self.go, self.text, self.fatal = value, go, text, fatal
        self.struct = ""
        self.path: list[str] = []
        self.separate = False  # the path so far is that of a type that decodes itself

    def prepend_field(self, struct: str, field: str) -> None:
        """Prepend the field in which it happened. The innermost struct gives the struct's name."""
        if self.separate and not has("WholeDecodePaths"):
            self.struct, self.path = "", []
        self.separate = False
        self.struct = self.struct or struct
        self.path.insert(0, field)

    def __str__(self) -> str:
        if self.text:
            return self.text
        target = f"struct field {self.struct}.{'.'.join(self.path)}" if self.path else "value"
        return f"json: cannot unmarshal {self.value} into Go {target} of type {self.go}"


class NumberMismatch(Mismatch):
    """A number that the Go type cannot hold; the message shows it as it was decoded."""

    def __init__(self, value: float, go: str) -> None:
        super().__init__(f"number {value!r}", go)


class GoType:
    """The Go type of a field. go: its name in messages."""

    go = ""
    # the type contains structs, so it reports unknown fields; containers complete their paths
    nested = False
    # values of this class are returned unchanged
    plain: type | None = None
    # text between a field of this type and an unknown field in it
    joint = "."

    def read_value(self, value: Any, unknown: list[str]) -> Any:
        """Return the value as after decoding and encoding. value: not None. Raises Mismatch."""
        raise NotImplementedError

    def make_zero(self) -> Any:
        """Return the encoded zero value."""
        return None

    def raise_fatal(self, value: Any) -> None:
        """Raise the first fatal Mismatch in the value, and no other."""

    def reject_value(self, value: Any, fatal: bool = False) -> NoReturn:
        """Raise the Mismatch of a value of another JSON type."""
        raise Mismatch(JSON_NAMES.get(type(value), "number"), self.go, fatal=fatal)


class String(GoType):
    """A string, or a named string type of Go such as types.UID. enum: the values that documents name, sorted."""

    plain = str

    def __init__(self, go: str = "string", enum: tuple[str, ...] = ()) -> None:
        self.go = go
        self.enum = enum

    def read_value(self, value: Any, unknown: list[str]) -> Any:
        if type(value) is not str:
            self.reject_value(value)
        return value

    def make_zero(self) -> Any:
        return ""


class Bool(GoType):
    """A boolean."""

    go = "bool"
    plain = bool

    def read_value(self, value: Any, unknown: list[str]) -> Any:
        if type(value) is not bool:
            self.reject_value(value)
        return value

    def make_zero(self) -> Any:
        return False


class Int(GoType):
    """A signed integer of 32 or 64 bits."""

    def __init__(self, bits: int) -> None:
        self.go = f"int{bits}"
        self.limit = 1 << (bits - 1)

    def read_value(self, value: Any, unknown: list[str]) -> Any:
        """Reject floats and integers out of range."""
        if type(value) is int and -self.limit <= value < self.limit:
            return value
        if _is_number(value):
            raise NumberMismatch(value, self.go)
        return self.reject_value(value)

    def make_zero(self) -> Any:
        return 0


class Float(GoType):
    """A float64; whole numbers come out without a point, as Go prints them."""

    go = "float64"

    def read_value(self, value: Any, unknown: list[str]) -> Any:
        """Round to a double."""
        if not _is_number(value):
            self.reject_value(value)
        return _round_double(value)

    def make_zero(self) -> Any:
        return 0


class Time(GoType):
    """A metav1.Time (digits=0: whole seconds) or MicroTime (digits=6), written in UTC."""

    go = "string"

    def __init__(self, digits: int) -> None:
        self.digits = digits

    def read_value(self, value: Any, unknown: list[str]) -> Any:
        """Return the time in UTC, None for the zero time."""
        if type(value) is not str:
            self.reject_value(value, fatal=True)
        try:
            return gotime.normalise_time(value, self.digits)
        except ValueError as error:
            raise Mismatch("", "", str(error), fatal=True) from None

    def raise_fatal(self, value: Any) -> None:
        """Raise every mismatch as fatal."""
        self.read_value(value, [])


class Quantity(GoType):
    """A quantity such as 1500m or 2Gi, given as a string or number; always written as a string, in canonical form."""

    go = "resource.Quantity"

    def read_value(self, value: Any, unknown: list[str]) -> Any:
        try:
            return quantity.canonicalize_quantity(value.strip() if type(value) is str else repr(value))
        except quantity.QuantityError as error:
            raise Mismatch("", "", str(error), fatal=True) from None

    def make_zero(self) -> Any:
        return "0"

    def raise_fatal(self, value: Any) -> None:
        """Raise every mismatch as fatal."""
        self.read_value(value, [])


class Bytes(GoType):
    """Bytes, as base64, or as a list of numbers."""

    go = "[]uint8"

    def read_value(self, value: Any, unknown: list[str]) -> Any:
        """Return canonical base64; a list of numbers is accepted as bytes."""
        if type(value) is list:
            return base64.b64encode(bytes(map(_read_byte, each(value)))).decode()
        if type(value) is not str:
            self.reject_value(value)
        try:
            return base64.b64encode(gobase64.decode_base64(value)).decode()
        except ValueError as error:
            raise Mismatch("", "", str(error)) from None


class Raw(GoType):
    """Any JSON value, kept as it is."""

    def __init__(self, go: str = "runtime.RawExtension") -> None:
        self.go = go

    def read_value(self, value: Any, unknown: list[str]) -> Any:
        return value


class Canonical(Raw):
    """Any JSON value, encoded again: keys sorted, whole floats as integers (the JSON type of apiextensions)."""

    def read_value(self, value: Any, unknown: list[str]) -> Any:
        return canonical_json(value)


class ListOf(GoType):
    """A list; a null item is the zero value of its type."""

    joint = ""

    def __init__(self, item: GoType, go: str = "") -> None:
        self.item = item
        self.go = go or f"[]{item.go}"
        self.nested = item.nested

    def read_value(self, value: Any, unknown: list[str]) -> Any:
        if type(value) is not list:
            self.reject_value(value)
        item = self.item
        if len(value) > MAX_UNCHARGED:
            charge(len(value))
        if not item.nested:
            return [item.make_zero() if element is None else item.read_value(element, unknown) for element in value]
        result = []
        for index, element in enumerate(value):
            start = len(unknown)
            result.append(item.make_zero() if element is None else item.read_value(element, unknown))
            if len(unknown) > start:
                unknown[start:] = [f"[{index}]{item.joint}{path}" for path in unknown[start:]]
        return result

    def raise_fatal(self, value: Any) -> None:
        for element in each(value) if type(value) is list else ():
            if element is not None:
                self.item.raise_fatal(element)


class KeylessPaths(list[str]):
    """Paths of unknown fields without the keys of maps, as a real server reports them for strategic merge patches."""


class MapOf(GoType):
    """A map with string keys, written in the order of its keys; a null item is the zero value of its type.

    unchanged_types: the Python class of items that need no conversion, if there is one.
    """

    def __init__(self, item: GoType, go: str = "") -> None:
        self.item = item
        self.unchanged_types = frozenset((item.plain,)) if item.plain is not None else frozenset()
        self.go = go or f"map[string]{item.go}"
        self.nested = item.nested

    def read_value(self, value: Any, unknown: list[str]) -> Any:
        if type(value) is not dict:
            self.reject_value(value)
        result = value
        if len(value) > MAX_UNCHARGED:
            charge(len(value))
        if not self.unchanged_types.issuperset(map(type, value.values())):
            item = self.item
            result, read, start = {}, item.read_value, len(unknown)
            for key, element in value.items():
                result[key] = item.make_zero() if element is None else read(element, unknown)
                if len(unknown) > start:
                    if type(unknown) is not KeylessPaths:
                        unknown[start:] = [f"{key}{item.joint}{path}" for path in unknown[start:]]
                    start = len(unknown)
        if len(result) > 1 and (names := sort_texts(result)) != list(result):
            return {name: result[name] for name in names}
        return result.copy() if result is value else result

    def raise_fatal(self, value: Any) -> None:
        for element in each(value).values() if type(value) is dict else ():
            if element is not None:
                self.item.raise_fatal(element)


class Union(GoType):
    """A type that decodes itself by the form of the value, such as JSONSchemaPropsOrBool.

    forms: JSON type -> the type to read then, or None to keep the value. rejection: the text that rejects all other
    values. Unknown fields inside are dropped without a report, because the inner decoding is separate.
    """

    def __init__(self, go: str, forms: Callable[[], dict[type, GoType | None]], refusal: str = "") -> None:
        self.go = go
        self.choose = forms
        self.rejection = refusal

    @made_once
    def forms(self) -> dict[type, GoType | None]:
        """Return the reader for each JSON type."""
        return self.choose()

    def read_value(self, value: Any, unknown: list[str]) -> Any:
        """Read the value by its form; None if no form matches and none rejects it."""
        kind = float if isinstance(value, float) else type(value)  # a number that prints as it was sent is a float
        if kind not in self.forms:
            if self.rejection:
                raise Mismatch("", "", self.rejection, fatal=True)
            return None
        form = self.forms[kind]
        if form is None:
            return value
        try:
            return form.read_value(value, []) or (None if type(value) is list else {})
        except Mismatch as error:
            error = find_worst(form, value, error)
            error.fatal = error.separate = True
            raise error from None

    def raise_fatal(self, value: Any) -> None:
        self.read_value(value, [])


class IntOrString(Union):
    """An intstr.IntOrString. A value that is not a string must be a number."""

    def __init__(self) -> None:
        super().__init__(
            "intstr.IntOrString", lambda: {str: None, **dict.fromkeys((int, float, bool, list, dict), INT32)}
        )

    def read_value(self, value: Any, unknown: list[str]) -> Any:
        """Read a string or a number; zero counts as a number."""
        return super().read_value(value, unknown) or (value if type(value) is str else 0)

    def make_zero(self) -> Any:
        return 0


def canonical_json(value: Any) -> Any:
    """Return a JSON value as Go's encoding/json prints it after decoding it: keys sorted, whole floats as integers."""
    if type(value) is dict:
        charge(len(value))
        return {key: canonical_json(value[key]) for key in sort_texts(value)}
    if type(value) is list:
        charge(len(value))
        return [canonical_json(item) for item in value]
    if type(value) is float or (type(value) is int and not MIN_INT64 <= value <= MAX_INT64):
        return _round_double(value)
    return value


def rewrite_fields(obj: Any, names: Sequence[str]) -> Any:
    """Return an object with some of its fields rewritten by `canonical_json`."""
    if not names or type(obj) is not dict:
        return obj
    return {**obj, **{name: canonical_json(obj[name]) for name in names if name in obj}}


def find_worst(form: GoType, value: Any, error: Mismatch) -> Mismatch:
    """Return the mismatch that Go reports: a fatal one at any place, else the first."""
    if not error.fatal:
        try:
            form.raise_fatal(value)
        except Mismatch as fatal:
            return fatal
    return error


def _round_double(value: float) -> float:
    """Return a number after a conversion to float64; an integer if Go prints no point."""
    text = gotext.format_number(float(value))
    return float(value) if "." in text or "e" in text else int(text)


def _read_byte(value: Any) -> int:
    """Return a number that is a byte. Raises Mismatch."""
    if value is None:
        return 0
    if type(value) is int and 0 <= value < 256:
        return value
    raise NumberMismatch(value, "uint8") if _is_number(value) else Mismatch(JSON_NAMES[type(value)], "uint8")


def _is_number(value: Any) -> bool:
    """Return whether the value is a JSON number; one from sentfloats.decode_as_written is, too."""
    return isinstance(value, int | float) and type(value) is not bool


STRING = String()
UID = String("types.UID")
BOOL = Bool()
INT32 = Int(32)
INT64 = Int(64)
FLOAT64 = Float()
TIME = Time(0)
MICRO_TIME = Time(6)
BYTES = Bytes()
QUANTITY = Quantity()
RAW = Raw()
JSON = Canonical("v1.JSON")
INT_OR_STRING = IntOrString()
STRINGS = ListOf(STRING)
STRING_MAP = MapOf(STRING)
