"""Reads a kubeconfig file: address, CA, credentials and proxy of a server.

HTTPS_PROXY, HTTP_PROXY and NO_PROXY count as for Go's clients. Source: golang.org/x/net/http/httpproxy.
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
import os
import ssl
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from podless.codec import serializer
from podless.remote.execplugin import EXTENSION, BadPlugin, ExecPlugin
from podless.runtime.dataclass import dataclass
from podless.runtime.option import ReportedError

_MAX_NAMES = 10  # maximum names in an error
_ELSEWHERE = ("auth-provider", "username")
# fields of the cluster that an exec plugin gets unchanged
_CLUSTER_FIELDS = ("server", "tls-server-name", "insecure-skip-tls-verify", "proxy-url")
_PORTS = {"http": 80, "https": 443}  # default ports of proxied URLs, by scheme


class BadKubeconfig(ReportedError):
    """A kubeconfig is unusable; the text is one line for a user."""


@dataclass(frozen=True, slots=True)
class ClusterAccess:
    """How to reach a server."""

    url: str  # without a trailing slash
    token: str = ""  # "" for none
    context: ssl.SSLContext | None = None  # None for plain HTTP
    proxy: str = ""  # URL of the proxy, "" for none
    server_name: str = ""  # name that the server's certificate must have, "" for the host of the URL
    # the program that gives the token or client certificate; `certified` then makes the context with a certificate and
    # key, both PEM
    plugin: ExecPlugin | None = None
    certified: Callable[[bytes, bytes], ssl.SSLContext] | None = None
    namespace: str = ""  # namespace of the kubeconfig's context, "" for none


def kubeconfig_paths(environment: Mapping[str, str] = os.environ) -> list[Path]:
    """Return the paths where kubectl looks for its configuration."""
    named = [Path(segment) for segment in environment.get("KUBECONFIG", "").split(os.pathsep) if segment]
    return named or [Path(environment.get("HOME", "/")) / ".kube" / "config"]


def find_kubeconfig() -> Path:
    """Return the first kubeconfig that exists where kubectl looks. Raises BadKubeconfig if there is none."""
    places = kubeconfig_paths()
    for path in places:
        if path.exists():
            return path
    raise BadKubeconfig(f"no kubeconfig at {places[0]}: name one with --kubeconfig or in $KUBECONFIG")


def read_kubeconfig(path: Path, context: str = "") -> ClusterAccess:
    """Return the access of a context, by default the current one. Raises BadKubeconfig."""
    try:
        document = serializer.decode_yaml(path.read_bytes())
    except OSError as error:
        raise BadKubeconfig(f"{path}: {os.strerror(error.errno or 0).lower()}") from None
    except serializer.YAMLError as error:
        raise BadKubeconfig(f"{path}: {error.message}") from None
    config = document if isinstance(document, dict) else {}
    chosen = _find_named(path, config, "context", context or config.get("current-context") or "")
    cluster = _find_named(path, config, "cluster", chosen.get("cluster") or "")
    user = _find_named(path, config, "user", chosen["user"]) if chosen.get("user") else {}
    server = str(cluster.get("server") or "")
    if not server.startswith(("https://", "http://")):
        raise BadKubeconfig(f"{path}: no server in cluster {chosen.get('cluster')}")
    for method in _ELSEWHERE:
        if method in user:
            raise BadKubeconfig(f"{path}: {method} of user {chosen['user']} is not supported here; give a token")
    token = str(user.get("token") or "")
    try:
        if user.get("tokenFile"):
            token = (path.parent / user["tokenFile"]).read_text().strip()
        named = str(cluster.get("proxy-url") or "")
        proxy = check_proxy(named, "proxy-url") if named else choose_proxy(server)
        plugin = _make_plugin(path, chosen, cluster, user)
    except (OSError, ValueError) as error:
        raise BadKubeconfig(f"{path}: {error}") from None
    secure, certified = None, None
    if server.startswith("https://"):
        certificate = _read_data(path, user, "client-certificate"), _read_data(path, user, "client-key")
        secure, certified = _make_context(path, cluster, *certificate), partial(_make_context, path, cluster)
    name = str(cluster.get("tls-server-name") or "")
    namespace = str(chosen.get("namespace") or "")
    return ClusterAccess(server.rstrip("/"), token, secure, proxy, name, plugin, certified, namespace)


def _make_plugin(
    path: Path, context: Mapping[str, Any], cluster: Mapping[str, Any], user: Mapping[str, Any]
) -> ExecPlugin | None:
    """Return the credential plugin of a user, None without one. Raises BadPlugin, OSError."""
    config = user.get("exec")
    if config is None:
        return None
    if not isinstance(config, Mapping):
        raise BadPlugin(f"exec of user {context['user']} is no map")
    cluster_info: dict[str, Any] = {name: cluster[name] for name in _CLUSTER_FIELDS if cluster.get(name)}
    authority = _read_data(path, cluster, "certificate-authority")
    if authority:
        cluster_info["certificate-authority-data"] = base64.b64encode(authority).decode()
    for extension in cluster.get("extensions") or ():
        if isinstance(extension, Mapping) and extension.get("name") == EXTENSION:
            cluster_info["config"] = extension.get("extension")
    return ExecPlugin(config, context["user"], path.absolute().parent, cluster_info)


def _find_named(path: Path, config: Mapping[str, Any], section: str, name: str) -> dict[str, Any]:
    for entry in config.get(f"{section}s") or ():
        if isinstance(entry, dict) and entry.get("name") == name:
            named: dict[str, Any] = entry.get(section) or {}
            return named
    if name:
        entries = [entry for entry in config.get(f"{section}s") or () if isinstance(entry, dict)]
        names = ", ".join(str(entry.get("name")) for entry in entries[:_MAX_NAMES])
        raise BadKubeconfig(f"{path}: no {section} {name!r}" + (f"; it has {names}" if names else ""))
    if not config.get("contexts"):
        raise BadKubeconfig(f"{path}: not a kubeconfig: it has no contexts")
    raise BadKubeconfig(f"{path}: no current context: set current-context in it, or name one with --context")


def _make_context(path: Path, cluster: Mapping[str, Any], certificate: bytes, key: bytes) -> ssl.SSLContext:
    try:
        authority = _read_data(path, cluster, "certificate-authority")
        context = ssl.create_default_context(cadata=authority.decode() if authority else None)
        if cluster.get("insecure-skip-tls-verify"):
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        if certificate and key:
            # NamedTemporaryFile is readable only by its owner
            with tempfile.NamedTemporaryFile(prefix="podless-", suffix=".pem") as file:
                file.write(certificate + b"\n" + key)
                file.flush()
                context.load_cert_chain(file.name)
    except (OSError, ValueError, binascii.Error) as error:
        raise BadKubeconfig(f"{path}: certificates: {error}") from None
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context


def _read_data(path: Path, section: Mapping[str, Any], name: str) -> bytes:
    if section.get(f"{name}-data"):
        return base64.b64decode(section[f"{name}-data"])
    return (path.parent / section[name]).read_bytes() if section.get(name) else b""


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
    if split_url.scheme not in _PORTS or not split_url.hostname:
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
