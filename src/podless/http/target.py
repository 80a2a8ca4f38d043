"""Parses the query of a request, and checks the escapes of its path."""

from __future__ import annotations

from urllib.parse import parse_qsl, unquote_plus

from podless.runtime.bounded import bounded_cache

_SECRET = "access_token"  # a bearer token in the query (RFC 6750, section 2.3)
_MASKED = "[masked]"
_HEX = frozenset("0123456789abcdefABCDEF")


@bounded_cache(1024)
def parse_query(query: str) -> dict[str, list[str]]:
    """Return the query parameters in order. The result is shared: do not change it."""
    result: dict[str, list[str]] = {}
    if ";" in query or "%" in query:
        query = "&".join(filter(_is_sound, query.split("&")))
    for name, value in parse_qsl(query, keep_blank_values=True):
        result.setdefault(name, []).append(value)
    return result


def _is_sound(parameter: str) -> bool:
    """Return whether Go accepts a parameter: no semicolon, and sound escapes."""
    return ";" not in parameter and has_sound_escapes(parameter)


def has_sound_escapes(text: str) -> bool:
    """Return whether two hexadecimal digits follow each %."""
    return all(len(segment) > 1 and _HEX.issuperset(segment[:2]) for segment in text.split("%")[1:])


def mask_query(query: str) -> str:
    """Return the raw query for a log, without bearer tokens."""
    if "%" not in query and _SECRET not in query.lower():
        return query
    return "&".join(map(_mask_parameter, query.split("&")))


def _mask_parameter(parameter: str) -> str:
    name, _, value = parameter.partition("=")
    return f"{name}={_MASKED}" if value and _SECRET in unquote_plus(parameter).lower() else parameter
