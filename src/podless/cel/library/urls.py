"""Absolute URLs and paths, as Go's net/url parses them (Kubernetes)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from podless.cel import values
from podless.cel.bounds import charge_each
from podless.cel.decls import Library, declare_function, member, plain
from podless.cel.errors import EvaluationError
from podless.cel.sizes import once, traversal
from podless.cel.types import BOOL, STRING, list_of, map_of, struct
from podless.codec import gotext
from podless.runtime.release import has

URL_TYPE = struct("kubernetes.URL")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*):")
_BAD_ESCAPE = re.compile("%(?![0-9A-Fa-f]{2})")
_PORT = re.compile(r":[0-9]*\Z")
_USER = re.compile(r"[A-Za-z0-9\-._:~!$&'()*+,;=%@]*\Z")
_HEX_PAIR = re.compile("%([0-9A-Fa-f]{2})")
# bytes that Go does not escape in a path
_PATH = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~$&+,/:;=@")
_HOST = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~!$&'()*+,;=:[]<>\"")


@dataclass(frozen=True, slots=True)
class Url:
    """A parsed URL. path: unescaped. raw: as in the text."""

    scheme: str
    host: str
    path: str
    raw: str
    query: str
    opaque: str = ""


values.NAMES[Url] = "kubernetes.URL"


class _BadURL(Exception):
    pass


def _unescape(text: str, host: bool = False) -> str:
    bad = _BAD_ESCAPE.search(text)
    if bad:
        raise _BadURL(f"invalid URL escape {gotext.quote(text[bad.start() : bad.start() + 3])}")
    if host:
        for pair in _HEX_PAIR.findall(text):
            if int(pair, 16) < 128 and pair != "25":
                raise _BadURL(f'invalid URL escape "%{pair}"')
        for char in charge_each(text):
            if ord(char) < 128 and char not in _HOST and char != "%":
                raise _BadURL(f"invalid character {gotext.quote(char)} in host name")
    if "%" not in text:
        return text
    data = re.sub(rb"%([0-9A-Fa-f]{2})", lambda pair: bytes((int(pair[1], 16),)), text.encode("utf-8", "surrogatepass"))
    return data.decode("utf-8", "replace")


def _authority(text: str) -> str:
    user, at, host = text.rpartition("@")
    if at:
        if not _USER.match(user):
            raise _BadURL("net/url: invalid userinfo")
        _unescape(user)
    return _host(host)


def _host(host: str) -> str:
    if host.startswith("["):
        end = host.rfind("]")
        if end < 0:
            raise _BadURL("missing ']' in host")
        rest = host[end + 1 :]
        if rest and not _PORT.match(rest):
            raise _BadURL(f"invalid port {gotext.quote(rest)} after host")
        return _unescape(host, True) if "%25" not in host else _unescape(host)
    colon = host.rfind(":")
    # newer Go checks from the first colon on, so that a:b:c has an invalid port; older Go from the last one
    first = host.find(":") if has("StrictURLColons") else colon
    if colon >= 0 and (not _PORT.match(host[colon:]) or first != colon):
        raise _BadURL(f"invalid port {gotext.quote(host[first:])} after host")
    return _unescape(host, True)


def parse_url(text: str, request: bool = False) -> Url:
    """Parse a URL. request: it must be absolute or an absolute path, without a fragment.

    Raises EvaluationError with Go's text.
    """
    try:
        return _parse(text, request)
    except _BadURL as error:
        raise EvaluationError(f"parse {gotext.quote(text)}: {error}") from None


def _parse(text: str, request: bool) -> Url:
    if any(ord(char) < 32 or ord(char) == 127 for char in charge_each(text)):
        raise _BadURL("net/url: invalid control character in URL")
    if not text and request:
        raise _BadURL("empty url")
    if text == "*":
        return Url("", "", "*", "*", "")
    rest = text if request else text.partition("#")[0]
    scheme = _SCHEME.match(rest)
    name = ""
    if scheme:
        name, rest = scheme[1].lower(), rest[scheme.end() :]
    elif rest.startswith(":"):
        raise _BadURL("missing protocol scheme")
    rest, _, query = rest.partition("?")
    if not rest.startswith("/"):
        if name:
            return Url(name, "", "", "", query, rest)
        if request:
            raise _BadURL("invalid URI for request")
        if ":" in rest.partition("/")[0]:
            raise _BadURL("first path segment in URL cannot contain colon")
    host = ""
    if (name or (not request and not rest.startswith("///"))) and rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        host, rest = _authority(authority), slash + path
    return Url(name, host, _unescape(rest), rest, query)


def _url(text: str) -> Url:
    try:
        parse_url(text, True)
        return parse_url(text)
    except EvaluationError as error:
        raise EvaluationError(f"URL parse error during conversion from string: {error}") from None


def is_url(text: str) -> bool:
    """Return whether a text is a URL that an HTTP request can use."""
    try:
        parse_url(text, True)
    except EvaluationError:
        return False
    return True


def _hostname(url: Url) -> str:
    host = url.host
    colon = host.rfind(":")
    if colon >= 0 and _PORT.match(host[colon:]):
        host = host[:colon]
    return host[1:-1] if host.startswith("[") and host.endswith("]") else host


def _port(url: Url) -> str:
    colon = url.host.rfind(":")
    return url.host[colon + 1 :] if colon >= 0 and _PORT.match(url.host[colon:]) else ""


def _escaped_path(url: Url) -> str:
    if url.raw and all(ord(char) < 128 and (ord(char) in _PATH or char in "!'()*[]%") for char in charge_each(url.raw)):
        return url.raw
    if url.path == "*":
        return "*"
    path = url.path.encode("utf-8", "surrogatepass")
    return "".join(chr(code) if code in _PATH else f"%{code:02X}" for code in charge_each(path))


def _query(url: Url) -> dict[str, list[str]]:
    out: dict[str, list[str]] = {}
    for part in charge_each(url.query.split("&")):
        if not part or ";" in part:
            continue
        name, _, value = part.partition("=")
        try:
            key, item = _unescape(name.replace("+", " ")), _unescape(value.replace("+", " "))
        except _BadURL:
            continue
        out.setdefault(key, []).append(item)
    return out


_ONE = once()
LIBRARY = Library(
    "urls",
    (
        declare_function(
            "url",
            "Reads a URL.",
            ["url('https://a.b/c').getHost() == 'a.b'"],
            plain("string_to_url", (STRING,), URL_TYPE, _url),
            cost=traversal(sized=True),
        ),
        declare_function(
            "isURL",
            "Whether a text is a URL.",
            ["isURL('https://a.b/c')", "!isURL('a/b')"],
            plain("is_url_string", (STRING,), BOOL, is_url),
        ),
        declare_function(
            "getScheme",
            "https and the like.",
            ["url('https://a.b').getScheme() == 'https'"],
            member("url_get_scheme", (URL_TYPE,), STRING, lambda url: url.scheme),
            cost=_ONE,
        ),
        declare_function(
            "getHost",
            "Host and port.",
            ["url('https://a.b:80').getHost() == 'a.b:80'"],
            member("url_get_host", (URL_TYPE,), STRING, lambda url: url.host),
            cost=_ONE,
        ),
        declare_function(
            "getHostname",
            "The host without port and brackets.",
            ["url('https://[::1]:80').getHostname() == '::1'"],
            member("url_get_hostname", (URL_TYPE,), STRING, _hostname),
            cost=_ONE,
        ),
        declare_function(
            "getPort",
            "The port, or ''.",
            ["url('https://a.b:80').getPort() == '80'"],
            member("url_get_port", (URL_TYPE,), STRING, _port),
            cost=_ONE,
        ),
        declare_function(
            "getEscapedPath",
            "The path, escaped.",
            ["url('https://a.b/c d').getEscapedPath() == '/c%20d'"],
            member("url_get_escaped_path", (URL_TYPE,), STRING, _escaped_path),
            cost=_ONE,
        ),
        declare_function(
            "getQuery",
            "The values of each key.",
            ["url('https://a.b?k=1&k=2').getQuery() == {'k': ['1', '2']}"],
            member("url_get_query", (URL_TYPE,), map_of(STRING, list_of(STRING)), _query),
            cost=_ONE,
        ),
    ),
)
