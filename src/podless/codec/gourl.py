"""URLs, as Go's net/url parses them."""

from __future__ import annotations

import re
from dataclasses import replace
from urllib.parse import quote

from podless.codec import gotext
from podless.codec.goaddress import find_address_fault
from podless.runtime.dataclass import dataclass
from podless.runtime.lazy import compile_late
from podless.runtime.release import has

_SCHEME = compile_late(r"([A-Za-z][A-Za-z0-9+.\-]*):")
_CONTROL = compile_late("[\0-\x1f\x7f]")
_BAD_ESCAPE = compile_late("%(?![0-9A-Fa-f]{2})")
_PORT = compile_late(r":[0-9]*\Z")
_USER = compile_late(r"[A-Za-z0-9\-._:~!$&'()*+,;=%@]*\Z")
# an ASCII character that Go does not accept in a host, or an escape of one
_NOT_HOST = compile_late("%(?!25)(?![89A-Fa-f][0-9A-Fa-f])|[\0-\x7f](?<![A-Za-z0-9\\-_.~!$&'()*+,;=:\\[\\]<>\"%])")
_IN_USER = "-_.~$&+,;="  # besides letters and digits, not escaped in user and password
_ZONE = "%25"


class URLError(Exception):
    """A text is not a URL. The message is Go's."""


@dataclass(frozen=True, slots=True)
class Url:
    """A parsed URL. path: unescaped. raw: the path as in the text. user: user and password, None without them."""

    scheme: str
    host: str
    path: str
    raw: str
    query: str
    opaque: str = ""
    user: str | None = None
    fragment: str = ""


def parse_url(text: str, request: bool = False) -> Url:
    """Parse a URL. request: it must be absolute or an absolute path, without a fragment. Raises URLError."""
    shown, _, fragment = (text, "", "") if request else text.partition("#")
    try:
        url = _parse_parts(shown, request)
        shown = text  # the error of a fragment shows the whole text
        return replace(url, fragment=unescape_percent(fragment)) if fragment else url
    except _BadURL as error:
        raise URLError(f"parse {gotext.quote(shown)}: {error}") from None


def is_request_url(text: str) -> bool:
    """Return whether a text is a URL that an HTTP request can use: absolute, or an absolute path."""
    try:
        parse_url(text, request=True)
    except URLError:
        return False
    return True


class _BadURL(ValueError):
    """A part of a URL is invalid."""


def _parse_parts(text: str, request: bool) -> Url:
    if _CONTROL.search(text):
        raise _BadURL("net/url: invalid control character in URL")
    if not text and request:
        raise _BadURL("empty url")
    if text == "*":
        return Url("", "", "*", "*", "")
    scheme, name, remaining = _SCHEME.match(text), "", text
    if scheme:
        name, remaining = scheme[1].lower(), text[scheme.end() :]
    elif text.startswith(":"):
        raise _BadURL("missing protocol scheme")
    remaining, _, query = remaining.partition("?")
    if not remaining.startswith("/"):
        if name:
            return Url(name, "", "", "", query, remaining)
        if request:
            raise _BadURL("invalid URI for request")
        if ":" in remaining.partition("/")[0]:
            raise _BadURL("first path segment in URL cannot contain colon")
    user, host = None, ""
    if (name or (not request and not remaining.startswith("///"))) and remaining.startswith("//"):
        authority, slash, path = remaining[2:].partition("/")
        user, host = _parse_authority(authority, name)
        remaining = slash + path
    return Url(name, host, unescape_percent(remaining), remaining, query, user=user)


def _parse_authority(text: str, scheme: str) -> tuple[str | None, str]:
    user, at, host = text.rpartition("@")
    host = _parse_host(host, scheme)
    if not at:
        return None, host
    if not _USER.match(user):
        raise _BadURL("net/url: invalid userinfo")
    name, colon, password = user.partition(":")
    return f"{_escape_user(name)}{colon}{_escape_user(password)}", host


def _escape_user(text: str) -> str:
    return quote(unescape_percent(text), _IN_USER)


def _parse_host(host: str, scheme: str) -> str:
    if host.rfind("[") > 0 and has("StrictURLHosts"):
        raise _BadURL("invalid IP-literal")
    if host.startswith("["):
        return _parse_bracketed_host(host)
    colon = host.rfind(":")
    # newer Go checks from the first colon on, so that a:b:c has an invalid port; older Go from the last one
    strict = scheme in ("http", "https") and has("StrictURLHosts")
    first = host.find(":") if strict else colon
    if colon >= 0 and (not _PORT.match(host[colon:]) or first != colon):
        raise _BadURL(f"invalid port {gotext.quote(host[first:])} after host")
    return _unescape_host(host)


def _parse_bracketed_host(host: str) -> str:
    """Check a host in brackets, which must be an IPv6 address."""
    end = host.rfind("]")
    if end < 0:
        raise _BadURL("missing ']' in host")
    address, port = host[1:end], host[end + 1 :]
    if port and not _PORT.match(port):
        raise _BadURL(f"invalid port {gotext.quote(port)} after host")
    zone = address.find(_ZONE)
    address = _unescape_host(address) if zone < 0 else _unescape_host(address[:zone]) + unescape_percent(address[zone:])
    if has("StrictURLHosts"):
        if fault := find_address_fault(address):
            raise _BadURL(f"invalid host: {fault}")
        if ":" not in address:
            raise _BadURL("invalid IP-literal")
    return f"[{address}]{port}"


def _unescape_host(text: str) -> str:
    wrong = _NOT_HOST.search(text)
    if wrong and wrong[0] == "%":
        raise _make_escape_error(text, wrong.start())
    if wrong:
        raise _BadURL(f"invalid character {gotext.quote(wrong[0])} in host name")
    return unescape_percent(text)


def unescape_percent(text: str) -> str:
    """Return a text with its percent-encoded bytes decoded. Raises ValueError for an invalid escape."""
    bad_escape = _BAD_ESCAPE.search(text)
    if bad_escape:
        raise _make_escape_error(text, bad_escape.start())
    if "%" not in text:
        return text
    data = re.sub(rb"%([0-9A-Fa-f]{2})", lambda pair: bytes((int(pair[1], 16),)), text.encode("utf-8", "surrogatepass"))
    return data.decode("utf-8", "replace")


def _make_escape_error(text: str, at: int) -> _BadURL:
    """Return the error for an invalid escape, which shows three bytes."""
    escape = text[at : at + 3].encode("utf-8", "surrogatepass")[:3].decode("utf-8", "replace")
    return _BadURL(f"invalid URL escape {gotext.quote(escape)}")
