"""Absolute URLs and paths, as Go's net/url parses them (Kubernetes)."""

from __future__ import annotations

import re

from podless.cel import values
from podless.cel.bounds import charge_each
from podless.cel.decls import Library, declare_global, declare_method
from podless.cel.errors import EvaluationError
from podless.cel.sizes import traversal_cost, unit_cost
from podless.cel.types import BOOL, STRING, list_of, map_of, struct_type
from podless.codec.gourl import Url, URLError, is_request_url, parse_url, unescape_percent

URL_TYPE = struct_type("kubernetes.URL")
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


def _escaped_path(url: Url) -> str:
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


_UNIT = unit_cost()
LIBRARY = Library(
    "urls",
    (
        declare_global("url", "string_to_url", (STRING,), URL_TYPE, _parse_url, traversal_cost(sized=True)),
        declare_global("isURL", "is_url_string", (STRING,), BOOL, is_request_url),
        declare_method("getScheme", "url_get_scheme", (URL_TYPE,), STRING, lambda url: url.scheme, _UNIT),
        declare_method("getHost", "url_get_host", (URL_TYPE,), STRING, lambda url: url.host, _UNIT),
        declare_method("getHostname", "url_get_hostname", (URL_TYPE,), STRING, _get_hostname, _UNIT),
        declare_method("getPort", "url_get_port", (URL_TYPE,), STRING, _get_port, _UNIT),
        declare_method("getEscapedPath", "url_get_escaped_path", (URL_TYPE,), STRING, _escaped_path, _UNIT),
        declare_method("getQuery", "url_get_query", (URL_TYPE,), map_of(STRING, list_of(STRING)), _parse_query, _UNIT),
    ),
)
