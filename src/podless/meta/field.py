"""Field errors, with Kubernetes' texts.

The types, their texts and the cause reasons are those of k8s.io/apimachinery's field errors, as recorded.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from contextvars import ContextVar, Token
from typing import Any

from podless.codec import gotext
from podless.codec.gotext import Copy, Literal, Named
from podless.runtime.dataclass import dataclass
from podless.runtime.meter import charge
from podless.runtime.release import CURRENT

# cause reason -> start of the message
TEXTS = {
    "FieldValueNotFound": "Not found",
    "FieldValueRequired": "Required value",
    "FieldValueDuplicate": "Duplicate value",
    "FieldValueInvalid": "Invalid value",
    "FieldValueNotSupported": "Unsupported value",
    "FieldValueForbidden": "Forbidden",
    "FieldValueTooLong": "Too long",
    "FieldValueTooMany": "Too many",
    "InternalError": "Internal error",
    "FieldValueTypeInvalid": "Invalid value",
}
OMITTED = Literal("")  # in place of a value that errors do not show
_WITHOUT_VALUE = {"FieldValueRequired", "FieldValueForbidden", "FieldValueTooLong", "InternalError"}


class Key(str):
    """A map key in a path, which is written in brackets."""

    __slots__ = ()


# the path to a field: names, list indexes, and map keys
Path = tuple[str | int, ...]
# a path, as a tuple or as text
At = str | Path
MAX = 5000  # maximum errors that a client gets
_MAX_COLLECTED = 4 * MAX  # errors after which the search in an object stops
_TEXT = 4 << 20  # approximate characters of their texts after which it stops
_STEPS = 8  # steps on the meter for an error's text
_BYTES = 64  # characters of a text that count as one more step
_INDEX = 18  # maximum digits of an index; longer numbers are keys
_NAME = re.compile(r"[^.\[]++")


def format_path(path: Path) -> str:
    """Return a path as errors write it: spec.ports[0].name."""
    pieces = [
        f"[{step}]" if step.__class__ is not str else f".{step}" if index else str(step)
        for index, step in enumerate(path)
    ]
    return "".join(pieces)


def parse_path(written: str) -> Path:
    """Return the path in a text. If a map's key contains brackets, this is a guess."""
    path: list[str | int] = []
    offset, last = 0, written.rfind("]")
    while offset < len(written):
        if written[offset] == "[" and offset < last:
            end = written.index("]", offset)
            text = written[offset + 1 : end]
            path.append(int(text) if text.isascii() and text.isdigit() and len(text) <= _INDEX else Key(text))
            offset = end + 1
        elif name := _NAME.match(written, offset):
            path.append(name[0])
            offset = name.end()
        else:
            offset += 1
    return tuple(path)


class TooManyErrors(Exception):
    """An object has far more errors than a client gets. Ends the block of `FoundErrors`."""


class FoundErrors:
    """Collects the errors of an object, as a context manager. It ends with `TooManyErrors` if there are very many.

    Finding all errors in a million items would take half a minute, and freeing them would block; a client gets only the
    first ones. errors: those found, in order.
    """

    __slots__ = ("_before", "errors")

    _before: Token[list[FieldError] | None]

    def __init__(self) -> None:
        self.errors: list[FieldError] = []

    def __enter__(self) -> None:
        self._before = _collector.set(self.errors)

    def __exit__(self, *error: object) -> None:
        _collector.reset(self._before)


_collector: ContextVar[list[FieldError] | None] = ContextVar("found", default=None)


@dataclass(frozen=True, slots=True)
class FieldError:
    """An error of one field.

    reason: a key of TEXTS, the cause's reason in a Status. at: the path, or its text. value: the given value (shown by
    the reasons that show one), or a function that makes a long one for each use. detail: the rest of the message, or
    "".
    """

    reason: str
    at: At
    value: Any = None
    detail: str = ""

    def __post_init__(self) -> None:
        collected = _collector.get()
        if collected is not None:
            collected.append(self)
            if len(collected) >= _MAX_COLLECTED:
                raise TooManyErrors

    @property
    def field(self) -> str:
        """The path as text, such as spec.ports[0].name; "<nil>" for an error without a field."""
        return self.at if isinstance(self.at, str) else format_path(self.at)

    @property
    def path(self) -> Path:
        """The path to the field; () for the object as a whole."""
        if isinstance(self.at, str):
            return () if self.at == "<nil>" else parse_path(self.at)
        return self.at

    @property
    def body(self) -> str:
        """The message without the field's path, as a Status cause carries it."""
        message = TEXTS[self.reason]
        release, detail = CURRENT.get(), self.detail
        if self.reason not in _WITHOUT_VALUE:
            show = gotext.format_value if release.has_feature("ValuesAsJSON") else gotext.format_syntax
            raw = self.value() if callable(self.value) else self.value
            value = raw if isinstance(raw, Literal) else show(raw)
            message = f"{message}: {value}" if value else message
        detail = release.word_error(self.field, detail)
        return f"{message}: {detail}" if detail else message

    def __str__(self) -> str:
        return f"{self.field}: {self.body}"


Errors = Iterator[FieldError]


def required(path: At, detail: str = "") -> FieldError:
    """Return the error of a missing value."""
    return FieldError("FieldValueRequired", path, None, detail)


def invalid(path: At, value: Any, detail: str) -> FieldError:
    """Return the error of a value that breaks a rule."""
    return FieldError("FieldValueInvalid", path, value, detail)


def invalid_details(path: At, value: Any, details: Iterable[str]) -> list[FieldError]:
    """Return an error for each text about a value."""
    return [invalid(path, value, detail) for detail in details]


def type_invalid(path: At, value: Any, detail: str) -> FieldError:
    """Return the error of a value of the wrong type."""
    return FieldError("FieldValueTypeInvalid", path, value, detail)


def forbidden(path: At, detail: str) -> FieldError:
    """Return the error of a value that is not allowed here."""
    return FieldError("FieldValueForbidden", path, None, detail)


def duplicate(path: At, value: Any) -> FieldError:
    """Return the error of a value that must be unique."""
    return FieldError("FieldValueDuplicate", path, value)


def not_supported(path: At, value: Any, supported: Iterable[str], *, named: bool = True) -> FieldError:
    """Return the error of a value outside a fixed set, which is listed in the given order.

    named: a string has a named type in Go, which most such fields have.
    """
    shown = Named(value) if named and value.__class__ is str else value
    return FieldError("FieldValueNotSupported", path, shown, list_supported(supported))


def list_supported(supported: Iterable[str]) -> str:
    """Return the text that lists the allowed values of a field, in the given order."""
    listed = ", ".join(gotext.quote(item) for item in supported)
    return f"supported values: {listed}" if listed else ""


def one_of(path: At, value: str | None, supported: Collection[str], *, named: bool = True) -> list[FieldError]:
    """Require a value, if given, to be one of a fixed set. named: as for `not_supported`."""
    return [] if value is None or value in supported else [not_supported(path, value, supported, named=named)]


def too_long(path: At, limit: int) -> FieldError:
    """Return the error of a string of more than `limit` bytes. A negative limit is not shown."""
    detail = f"may not be more than {limit} byte{'s' * (limit != 1)}" if limit >= 0 else "value is too long"
    return FieldError("FieldValueTooLong", path, None, detail)


def too_many(path: At, count: int, limit: int) -> FieldError:
    """Return the error of a list or map of `count` items, if `limit` are allowed. A negative limit is not shown."""
    detail = f"must have at most {limit} item{'s' * (limit != 1)}" if limit >= 0 else "has too many items"
    return FieldError("FieldValueTooMany", path, count, detail)


def internal(path: At, detail: str) -> FieldError:
    """Return the error of a check that failed to run."""
    return FieldError("InternalError", path, None, detail)


def join_errors(errors: Iterable[FieldError]) -> str:
    """Join errors into one text: equal ones once, in brackets if there are several."""
    return summarize_errors(errors)[1]


def summarize_errors(errors: Iterable[FieldError]) -> tuple[list[FieldError], str, list[dict[str, str]]]:
    """Return the errors, their text, and the causes of a Status.

    The text has equal errors once, unless their addresses differ, and brackets around more than one. If the errors are
    very many or very long, only the first ones are kept.
    """
    reported: list[FieldError] = []
    causes: list[dict[str, str]] = []
    texts: dict[str | int, str] = {}
    room = _TEXT
    for error in errors:
        if len(reported) >= MAX or room < 0:
            break
        at, body = error.field, error.body
        charge(_STEPS + len(body) // _BYTES)
        reported.append(error)
        causes.append({"reason": error.reason, "message": body, "field": at})
        text = f"{at}: {body}"
        texts[len(reported) if isinstance(error.value, Copy) else text] = text
        room -= len(at) + len(body)
    return reported, text if len(texts) == 1 else f"[{', '.join(texts.values())}]", causes
