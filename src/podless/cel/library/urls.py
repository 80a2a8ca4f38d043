"""Absolute URLs and paths, as Go's net/url parses them (Kubernetes)."""

from __future__ import annotations

import re

from podless.cel import values
from podless.cel.bounds import charge_each
from podless.cel.cost import UNIT, traversal_cost
from podless.cel.errors import EvaluationError
from podless.cel.functions import Library, declare
from podless.codec.gourl import Url, URLError, is_request_url, parse_url, unescape_percent

_PORT = re.compile(r":[0-9]*\Z")
# bytes that Go does not escape in a path
_PATH = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~$&+,/:;=@")


values.NAMES[Url] = "kubernetes.URL"


def _parse_url(text: str) -> Url:
    try:
        parse_url(text, True)
        return parse_url(text)
    except URLError as error:
        raise EvaluationError(f"URL parse error during conversion from string: {error}") from None


def _get_hostname(url: Url) -> str:
    host = url.host
    colon = host.rfind(":")
    if colon >= 0 and _PORT.match(host[colon:]):
        host = host[:colon]
    return host[1:-1] if host.startswith("[") and host.endswith("]") else host


def _get_port(url: Url) -> str:
    colon = url.host.rfind(":")
    return url.host[colon + 1 :] if colon >= 0 and _PORT.match(url.host[colon:]) else ""


def _escape_path(url: Url) -> str:
    if url.raw and all(ord(char) < 128 and (ord(char) in _PATH or char in "!'()*[]%") for char in charge_each(url.raw)):
        return url.raw
    if url.path == "*":
        return "*"
    path = url.path.encode("utf-8", "surrogatepass")
    return "".join(chr(code) if code in _PATH else f"%{code:02X}" for code in charge_each(path))


def _parse_query(url: Url) -> dict[str, list[str]]:
    parameters: dict[str, list[str]] = {}
    for pair in charge_each(url.query.split("&")):
        if not pair or ";" in pair:
            continue
        name, _, value = pair.partition("=")
        try:
            key, item = unescape_percent(name.replace("+", " ")), unescape_percent(value.replace("+", " "))
        except ValueError:
            continue
        parameters.setdefault(key, []).append(item)
    return parameters


LIBRARY = Library(
    "urls",
    (
        declare("url(string) -> URL", "string_to_url", _parse_url, traversal_cost(sized=True)),
        declare("isURL(string) -> bool", "is_url_string", is_request_url),
        declare("<URL>.getScheme() -> string", "url_get_scheme", lambda url: url.scheme, UNIT),
        declare("<URL>.getHost() -> string", "url_get_host", lambda url: url.host, UNIT),
        declare("<URL>.getHostname() -> string", "url_get_hostname", _get_hostname, UNIT),
        declare("<URL>.getPort() -> string", "url_get_port", _get_port, UNIT),
        declare("<URL>.getEscapedPath() -> string", "url_get_escaped_path", _escape_path, UNIT),
        declare("<URL>.getQuery() -> map(string, list(string))", "url_get_query", _parse_query, UNIT),
    ),
)
