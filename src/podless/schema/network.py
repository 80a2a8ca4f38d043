"""Parses addresses as Go's net, net/url and net/mail do, for formats that contain them."""

from __future__ import annotations

import re

from podless.codec.goaddress import find_address_fault
from podless.codec.gourl import is_request_url
from podless.meta.addresses import parse_address, parse_range
from podless.runtime.lazy import compile_late
from podless.runtime.meter import each

_MAC = compile_late(
    r"^(?:[0-9A-Fa-f]{2}([:-])(?:[0-9A-Fa-f]{2}\1){4}[0-9A-Fa-f]{2}"
    r"|[0-9A-Fa-f]{2}([:-])(?:[0-9A-Fa-f]{2}\2){6}[0-9A-Fa-f]{2}"
    r"|[0-9A-Fa-f]{2}([:-])(?:[0-9A-Fa-f]{2}\3){18}[0-9A-Fa-f]{2}"
    r"|[0-9A-Fa-f]{4}(?:\.[0-9A-Fa-f]{4}){2}|[0-9A-Fa-f]{4}(?:\.[0-9A-Fa-f]{4}){3}"
    r"|[0-9A-Fa-f]{4}(?:\.[0-9A-Fa-f]{4}){9}|[0-9A-Fa-f]{12}|[0-9A-Fa-f]{16}|[0-9A-Fa-f]{40})\Z"
)
_OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
# matches most addresses and ranges, in less time than the full check
_COMMON_IPV4 = compile_late(rf"^{_OCTET}(?:\.{_OCTET}){{3}}(?:/(?:[12]?[0-9]|3[0-2]))?\Z")


def _is_strict(text: str) -> bool:
    """Return whether a text is an address without leading zeros and zone."""
    return "%" not in text and not find_address_fault(each(text))


def is_ipv4(text: str) -> bool:
    """Return whether Go parses a text as an address with a dot. Accepts leading zeros and IPv6 with an IPv4 tail."""
    if "/" in text or "." not in text:
        return False
    return _COMMON_IPV4.match(text) is not None or parse_address(text) is not None


def is_ipv6(text: str) -> bool:
    """Return whether a text is an address with a colon."""
    return ":" in text and _is_strict(text)


def is_cidr(text: str) -> bool:
    """Return whether a text is an address, a slash and a prefix length."""
    return "/" in text and (_COMMON_IPV4.match(text) is not None or parse_range(text) is not None)


def is_mac(text: str) -> bool:
    """Return whether a text is 6, 8 or 20 bytes in hexadecimal.

    The digits are in pairs with : or -, in groups of four with dots, or without separators.
    """
    return _MAC.match(text) is not None


def is_uri(text: str) -> bool:
    """Return whether a text is an absolute URI or an absolute path, as in an HTTP request line."""
    return is_request_url(each(text))


_BLANKS = compile_late(r"[ \t]*+")
_QUOTED = r'"(?:[^"\\\x00-\x08\x0a-\x1f\x7f]|\\[^\x00-\x08\x0a-\x1f\x7f])%s+"'
_ATOM = r"[\w!#$%&'*+\-/=?^`{|}~\x80-\U0010ffff]++"
_DOT_ATOM = rf"{_ATOM}(?:\.{_ATOM})*+(?!\.)"
_ADDRESS = compile_late(
    rf"(?:{_QUOTED % '+'}|{_DOT_ATOM})[ \t]*+@[ \t]*+(?:\[(?P<literal>[^\]]*+)\]|{_DOT_ATOM})", re.ASCII
)
_WORD = compile_late(rf"{_QUOTED % '*'}|(?:{_ATOM}|\.)++", re.ASCII)
# a piece of a comment: an escaped character, a parenthesis, or others
_COMMENT_PIECE = compile_late(r"\\.|[()]|[^\\()]++", re.DOTALL)


def is_email(text: str) -> bool:
    """Return whether a text is one RFC 5322 address, with or without a display name, as lenient as Go's net/mail."""
    start = _skip_space(each(text), 0)
    end = _skip_address(text, start)
    if end is None:
        while text[start : start + 1] != "<":
            word = _WORD.match(text, start)
            if word is None:
                return False
            start = _skip_space(text, word.end())
        end = _skip_address(text, _skip_blanks(text, start + 1))
        end = None if end is None else _skip_blanks(text, end)
        if end is None or text[end : end + 1] != ">":
            return False
        end += 1
    return _skip_space(text, end) == len(text)


def _skip_address(text: str, start: int) -> int | None:
    """Return the end of an address, None if there is none."""
    match = _ADDRESS.match(text, start)
    literal = match and match["literal"]
    if match is None or (literal is not None and not _is_strict(literal) and not literal.startswith("IPv6:")):
        return None
    return match.end()


def _skip_blanks(text: str, at: int) -> int:
    match = _BLANKS.match(text, at)
    assert match is not None
    return match.end()


def _skip_space(text: str, at: int) -> int:
    """Return the end of white space and nested comments; beyond the end of the text if a comment is not closed."""
    at = _skip_blanks(text, at)
    while text[at : at + 1] == "(":
        depth = 0
        for piece in _COMMENT_PIECE.finditer(text, at):
            depth += {"(": 1, ")": -1}.get(piece[0], 0)
            if not depth:
                break
        if depth:
            return len(text) + 1
        at = _skip_blanks(text, piece.end())
    return at
