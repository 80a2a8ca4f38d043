"""Field errors: what is wrong with one field of an object, in Kubernetes' words.

The types, their texts and the cause reasons are those of k8s.io/apimachinery's field errors, as recorded.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from podless.meta import gotext

# cause reason -> the words a message starts with
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
_WITHOUT_VALUE = {"FieldValueRequired", "FieldValueForbidden", "FieldValueTooLong", "InternalError"}


@dataclass(frozen=True, slots=True)
class FieldError:
    """One thing wrong with one field.

    reason: a key of TEXTS, the cause's reason in a Status. field: the path, such as spec.ports[0].name.
    value: what was given (shown by the reasons that show one). detail: the rest of the message, or "".
    """

    reason: str
    field: str
    value: Any = None
    detail: str = ""

    @property
    def body(self) -> str:
        """The message without the field's path, as a Status cause carries it."""
        text = TEXTS[self.reason]
        if self.reason not in _WITHOUT_VALUE:
            text = f"{text}: {gotext.value(self.value)}"
        return f"{text}: {self.detail}" if self.detail else text

    def __str__(self) -> str:
        return f"{self.field}: {self.body}"


def required(path: str, detail: str = "") -> FieldError:
    """A value must be given and is not."""
    return FieldError("FieldValueRequired", path, None, detail)


def invalid(path: str, value: Any, detail: str) -> FieldError:
    """The value does not obey a rule."""
    return FieldError("FieldValueInvalid", path, value, detail)


def type_invalid(path: str, value: Any, detail: str) -> FieldError:
    """The value has the wrong type."""
    return FieldError("FieldValueTypeInvalid", path, value, detail)


def forbidden(path: str, detail: str) -> FieldError:
    """The value may not be given here."""
    return FieldError("FieldValueForbidden", path, None, detail)


def duplicate(path: str, value: Any) -> FieldError:
    """The value must be unique and is not."""
    return FieldError("FieldValueDuplicate", path, value)


def not_supported(path: str, value: Any, supported: Iterable[str]) -> FieldError:
    """The value is none of a fixed set; supported is listed in the order given."""
    listed = ", ".join(gotext.quote(item) for item in supported)
    return FieldError("FieldValueNotSupported", path, value, f"supported values: {listed}" if listed else "")


def too_long(path: str, most: int) -> FieldError:
    """A string of more than `most` bytes; a negative number is not told."""
    text = f"may not be more than {most} byte{'s' * (most != 1)}" if most >= 0 else "value is too long"
    return FieldError("FieldValueTooLong", path, None, text)


def too_many(path: str, count: int, most: int) -> FieldError:
    """A list or map of `count` items where `most` are allowed; a negative number is not told."""
    text = f"must have at most {most} item{'s' * (most != 1)}" if most >= 0 else "has too many items"
    return FieldError("FieldValueTooMany", path, count, text)


def internal(path: str, detail: str) -> FieldError:
    """A check could not be made."""
    return FieldError("InternalError", path, None, detail)


def join(errors: Iterable[FieldError]) -> str:
    """Several errors as one text: equal ones once, brackets around more than one."""
    texts = list(dict.fromkeys(str(error) for error in errors))
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
