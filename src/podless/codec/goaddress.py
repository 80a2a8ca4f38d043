"""The errors of Go's net/netip for a text that is not an IP address."""

from __future__ import annotations

from podless.codec import gotext
from podless.runtime.lazy import compile_late

_GROUP = compile_late("[0-9a-fA-F]+")
_FIRST = compile_late("[.:%]")


class _BadAddress(Exception):
    """A text is not an address, in the words of net/netip. at: the rest of the text from the error on."""

    def __init__(self, message: str, at: str = "") -> None:
        super().__init__(f"{message} (at {gotext.quote(at)})" if at else message)


def find_address_fault(text: str) -> str:
    """Return the error of netip.ParseAddr, or ""."""
    try:
        _check_address(text)
    except _BadAddress as error:
        return f"ParseAddr({gotext.quote(text)}): {error}"
    return ""


def _check_address(text: str) -> None:
    first = _FIRST.search(text)
    if first is None:
        raise _BadAddress("unable to parse IP")
    if first[0] == "%":
        raise _BadAddress("missing IPv6 address")
    (_check_octets if first[0] == "." else _check_groups)(text)


def _check_octets(text: str) -> None:
    """Check four decimal numbers separated by dots."""
    value, digits, count = 0, 0, 0
    for index, char in enumerate(text):
        if "0" <= char <= "9":
            if digits == 1 and value == 0:
                raise _BadAddress("IPv4 field has octet with leading zero")
            value, digits = value * 10 + int(char), digits + 1
            if value > 255:
                raise _BadAddress("IPv4 field has value >255")
        elif char == ".":
            if index in (0, len(text) - 1) or text[index - 1] == ".":
                raise _BadAddress("IPv4 field must have at least one digit", text[index:])
            if count == 3:
                raise _BadAddress("IPv4 address too long")
            value, digits, count = 0, 0, count + 1
        else:
            raise _BadAddress("unexpected character", text[index:])
    if count < 3:
        raise _BadAddress("IPv4 address too short")


def _check_groups(text: str) -> None:
    """Check groups of hexadecimal digits separated by colons."""
    remaining, percent, zone = text.partition("%")
    if percent and not zone:
        raise _BadAddress("zone must be a non-empty string")
    gap = remaining.startswith("::")
    remaining = remaining[2:] if gap else remaining
    count = 0
    while count < 8 and remaining:
        match = _GROUP.match(remaining)
        size = match.end() if match else 0
        if size > 4:
            raise _BadAddress("each group must have 4 or less digits", remaining)
        if not size:
            raise _BadAddress("each colon-separated field must have at least one digit", remaining)
        if remaining[size : size + 1] == ".":
            count, remaining = count + _parse_embedded_ipv4(remaining, count, gap), ""
            break
        count, remaining = count + 1, remaining[size:]
        if not remaining:
            break
        if remaining[0] != ":":
            raise _BadAddress("unexpected character, want colon", remaining)
        if len(remaining) == 1:
            raise _BadAddress("colon must be followed by more characters", remaining)
        remaining = remaining[1:]
        if remaining[0] == ":":
            if gap:
                raise _BadAddress("multiple :: in address", remaining)
            gap, remaining = True, remaining[1:]
    if remaining:
        raise _BadAddress("trailing garbage after address", remaining)
    if count < 8 and not gap:
        raise _BadAddress("address string too short")
    if count == 8 and gap:
        raise _BadAddress("the :: must expand to at least one field of zeros")


def _parse_embedded_ipv4(remaining: str, count: int, gap: bool) -> int:
    """Check an IPv4 address at the end, and return how many groups it replaces."""
    if not gap and count != 6:
        raise _BadAddress("embedded IPv4 address must replace the final 2 fields of the address", remaining)
    if count > 6:
        raise _BadAddress("too many hex fields to fit an embedded IPv4 at the end of the address", remaining)
    _check_octets(remaining)
    return 2
