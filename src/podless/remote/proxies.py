"""Chooses the proxy for a server by HTTPS_PROXY, HTTP_PROXY and NO_PROXY, as Go's clients do.

Source: golang.org/x/net/http/httpproxy.
"""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from urllib.parse import urlsplit

_PORTS = {"http": 80, "https": 443}
SCHEMES = ("http", "https")


def choose_proxy(url: str, environment: Mapping[str, str] = os.environ) -> str:
    """Return the URL of the proxy for a server's URL, "" for none. Raises ValueError for an unusable proxy."""
    split_url = urlsplit(url)
    name = f"{split_url.scheme.upper()}_PROXY"
    proxy = environment.get(name) or environment.get(name.lower()) or ""
    if not proxy:
        return ""
    excluded = environment.get("NO_PROXY") or environment.get("no_proxy") or ""
    host, port = (split_url.hostname or "").rstrip("."), split_url.port or _PORTS[split_url.scheme]
    if _is_direct(host, port, excluded):
        return ""
    return check_proxy(proxy if "://" in proxy else f"http://{proxy}", name)


def check_proxy(proxy: str, named: str) -> str:
    """Return a proxy's URL. named: the setting that gave it. Raises ValueError for an unusable proxy."""
    split_url = urlsplit(proxy)
    if split_url.scheme not in SCHEMES or not split_url.hostname:
        raise ValueError(f"{named}: {proxy!r} is not the URL of an HTTP proxy: http://HOST:PORT or https://HOST:PORT")
    return proxy


def _is_direct(host: str, port: int, excluded: str) -> bool:
    """Return whether a server is reached without a proxy: this machine, or one that NO_PROXY names."""
    address = _parse_address(host)
    if host == "localhost" or (address is not None and address.is_loopback):
        return True
    for entry in filter(None, (text.strip().lower() for text in excluded.split(","))):
        if entry == "*":
            return True
        name, only = _split_port(entry)
        if only not in (0, port):
            continue
        if address is None:
            suffix = name.removeprefix("*")
            if (host == suffix and not suffix.startswith(".")) or host.endswith(f".{suffix.removeprefix('.')}"):
                return True
        elif address in _parse_network(name):
            return True
    return False


def _split_port(entry: str) -> tuple[str, int]:
    """Split an entry of NO_PROXY into its name or address and its port, 0 for all ports."""
    name, colon, port = entry.rpartition(":")
    if colon and port.isdigit() and (":" not in name or name.endswith("]")):
        return name.strip("[]"), int(port)
    return entry.strip("[]"), 0


def _parse_address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def _parse_network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | tuple[()]:
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return ()
