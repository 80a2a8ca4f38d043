"""The string formats that kube-apiserver checks, and how they are checked.

The registry is k8s.io/kube-openapi's strfmt; each format accepts exactly what the Go function behind it accepts.
Names are compared without dashes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from podless.codec import gotime
from podless.runtime.lazy import compile_late
from podless.runtime.meter import each
from podless.runtime.release import has
from podless.schema import network, regex

# strfmt's pattern without its bounds on repetitions, because other code limits a label to 63 bytes
_LETTERS = r"a-zA-Z0-9\p{S}\p{L}"
_HOSTNAME = rf"^([{_LETTERS}](-?[{_LETTERS}]*)?|([{_LETTERS}]([-{_LETTERS}]*[{_LETTERS}])?\.)+[a-zA-Z\p{{L}}]{{2,}})$"
_is_hostname = regex.make_matcher(_HOSTNAME)
_UUID = r"^(?i:[0-9a-f]{8}-?[0-9a-f]{4}-?%s[0-9a-f]{3}-?%s[0-9a-f]{3}-?[0-9a-f]{12})\Z"
_CARD = compile_late(
    r"^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}"
    r"|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35[0-9]{3})[0-9]{11})\Z"
)
_CHANNEL = r"\s*(0|[1-9][0-9]?|1[0-9][0-9]?|2[0-4][0-9]|25[0-5])\s*"
_BASE64 = compile_late(r"^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})\Z")
_SSN = compile_late(r"^[0-9]{3}[- ]?[0-9]{2}[- ]?[0-9]{4}\Z")
# the dot before the fraction matches any character, as in strfmt
_CLOCK = compile_late(r"^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))\Z")
# matches most date-times; the others get the full check
_COMMON_DATE_TIME = compile_late(
    r"^[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]+)?Z\Z"
)
_LABEL = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"


def _make_pattern_check(text: str) -> Callable[[str], bool]:
    compiled = compile_late(text)
    return lambda value: compiled.match(value) is not None


def _is_hostname_text(value: str) -> bool:
    if len(value.encode()) > 255 or not _is_hostname.run(value):
        return False
    return all(len(label.encode()) <= 63 for label in each(value.split(".")))


def _is_card_number(value: str) -> bool:
    digits = re.sub("[^0-9]+", "", value)
    if not _CARD.match(digits):
        return False
    doubled = [int(digit) * (1 + index % 2) for index, digit in enumerate(reversed(each(digits)))]
    return sum(number - 9 if number > 9 else number for number in each(doubled)) % 10 == 0


def _is_isbn10(value: str) -> bool:
    text = re.sub(r"[\t\n\f\r -]+", "", value)
    if not re.match(r"^(?:[0-9]{9}X|[0-9]{10})\Z", text):
        return False
    digits = [10 if char == "X" else int(char) for char in each(text)]
    return sum(index * digit for index, digit in enumerate(each(digits), 1)) % 11 == 0


def _is_isbn13(value: str) -> bool:
    text = re.sub(r"[\t\n\f\r -]+", "", value)
    if not re.match(r"^[0-9]{13}\Z", text):
        return False
    total = sum(int(char) * (1 + 2 * (index % 2)) for index, char in enumerate(each(text[:12])))
    return (10 - total % 10) % 10 == int(text[12])


def _is_datetime(value: str) -> bool:
    if _COMMON_DATE_TIME.match(value):
        return True
    halves = value.lower().split("t")
    if len(value.encode()) < 4 or len(halves) < 2 or not gotime.is_date(halves[0]):
        return False
    match = _CLOCK.match(halves[1])
    return bool(match) and match[1] <= "23" and match[2] <= "59" and match[3] <= "59"  # type: ignore[index]


def _is_duration(value: str) -> bool:
    """Return whether a text has Go's durations, or numbers with unit words, anywhere in it."""
    try:
        gotime.parse_span(value)
    except ValueError:
        return False
    return True


def _make_name_check(text: str, max_length: int) -> Callable[[str], bool]:
    matches = _make_pattern_check(text)
    return lambda value: not has("NameFormats") or (len(value) <= max_length and matches(value))


CHECKS: dict[str, Callable[[str], bool]] = {
    "bsonobjectid": _make_pattern_check(r"^[0-9a-fA-F]{24}\Z"),
    "uri": network.is_uri,
    "email": network.is_email,
    "hostname": _is_hostname_text,
    "ipv4": network.is_ipv4,
    "ipv6": network.is_ipv6,
    "cidr": network.is_cidr,
    "mac": network.is_mac,
    "uuid": _make_pattern_check(_UUID % ("[0-9a-f]", "[0-9a-f]")),
    "uuid3": _make_pattern_check(_UUID % ("3", "[0-9a-f]")),
    "uuid4": _make_pattern_check(_UUID % ("4", "[89ab]")),
    "uuid5": _make_pattern_check(_UUID % ("5", "[89ab]")),
    "isbn": lambda value: _is_isbn10(value) or _is_isbn13(value),
    "isbn10": _is_isbn10,
    "isbn13": _is_isbn13,
    "creditcard": _is_card_number,
    "ssn": lambda value: len(value) == 11 and _SSN.match(value) is not None,
    "hexcolor": _make_pattern_check(r"^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})\Z"),
    "rgbcolor": _make_pattern_check(rf"^rgb\({_CHANNEL},{_CHANNEL},{_CHANNEL}\)\Z".replace(r"\s", r"[\t\n\f\r ]")),
    "byte": lambda value: _BASE64.match(value) is not None,
    "password": lambda value: True,
    "date": gotime.is_date,
    "duration": _is_duration,
    "datetime": _is_datetime,
    "k8sshortname": _make_name_check(rf"^{_LABEL}\Z", 63),
    "k8slongname": _make_name_check(rf"^{_LABEL}(?:\.{_LABEL})*\Z", 253),
}
_NUMERIC = {"integer": ("int32", "int64"), "number": ("float", "double")}


def find_check(name: str) -> Callable[[str], bool] | None:
    """Return the check of a string format, or None when the name is not known."""
    return CHECKS.get(name.replace("-", ""))


def is_known(name: str, types: tuple[str, ...]) -> bool:
    """Return whether a format is one of those supported for values of these types."""
    kind = types[0] if len(types) == 1 else ""
    if kind in ("", "string"):
        return find_check(name) is not None and (has("NameFormats") or not name.startswith("k8s-"))
    return name in _NUMERIC.get(kind, ())


# changes between releases that affect formats; a compiled schema with such a format belongs to one release
CHANGES: Final = ("NumericFormats", "NameFormats")


def depends_on_release(definition: Any) -> bool:
    """Return whether releases differ in a format that a definition or schema contains."""
    if isinstance(definition, list):
        return any(map(depends_on_release, definition))
    if not isinstance(definition, dict):
        return False
    name = definition.get("format")
    independent = name == "" or (definition.get("type") == "string" and not str(name).startswith("k8s-"))
    return (isinstance(name, str) and not independent) or any(map(depends_on_release, definition.values()))


def narrow_format(name: str, types: tuple[str, ...]) -> str:
    """Return the format that validation uses: "" if it is not supported for these types."""
    if not name:
        return ""
    supported = is_known(name, types) if has("NumericFormats") else find_check(name) is not None
    return name if supported else ""
