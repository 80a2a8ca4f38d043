"""Reads a kubeconfig file: where a server is, whom to trust, and who asks."""

from __future__ import annotations

import base64
import binascii
import os
import ssl
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from podless.codec import serializer

_ELSEWHERE = ("exec", "auth-provider", "username")


class BadKubeconfig(Exception):
    """A kubeconfig that cannot be used; the text is one line for a person."""


@dataclass(frozen=True, slots=True)
class Access:
    """How to reach a server. url: without a slash at the end. token: "" for none. context: None for plain HTTP."""

    url: str
    token: str = ""
    context: ssl.SSLContext | None = None


def kubeconfig_paths(environment: Mapping[str, str] = os.environ) -> list[Path]:
    """Where kubectl looks for its configuration."""
    named = [Path(part) for part in environment.get("KUBECONFIG", "").split(os.pathsep) if part]
    return named or [Path(environment.get("HOME", "/")) / ".kube" / "config"]


def read_kubeconfig(path: Path, context: str = "") -> Access:
    """What a context of the file says, the current one unless named. Raises BadKubeconfig."""
    try:
        document = serializer.decode_yaml(path.read_bytes())
    except OSError as error:
        raise BadKubeconfig(f"{path}: {os.strerror(error.errno or 0).lower()}") from None
    except serializer.YAMLError as error:
        raise BadKubeconfig(f"{path}: {error.message}") from None
    config = document if isinstance(document, dict) else {}
    chosen = _named(path, config, "context", context or config.get("current-context") or "")
    cluster = _named(path, config, "cluster", chosen.get("cluster") or "")
    user = _named(path, config, "user", chosen["user"]) if chosen.get("user") else {}
    server = str(cluster.get("server") or "")
    if not server.startswith(("https://", "http://")):
        raise BadKubeconfig(f"{path}: no server in cluster {chosen.get('cluster')}")
    for way in _ELSEWHERE:
        if way in user:
            raise BadKubeconfig(f"{path}: {way} of user {chosen['user']} is not supported here; give a token")
    token = str(user.get("token") or "")
    if user.get("tokenFile"):
        token = (path.parent / user["tokenFile"]).read_text().strip()
    secure = _context(path, cluster, user) if server.startswith("https://") else None
    return Access(server.rstrip("/"), token, secure)


def _named(path: Path, config: Mapping[str, Any], what: str, name: str) -> dict[str, Any]:
    for entry in config.get(f"{what}s") or ():
        if isinstance(entry, dict) and entry.get("name") == name:
            found: dict[str, Any] = entry.get(what) or {}
            return found
    raise BadKubeconfig(f"{path}: no {what} {name!r}" if name else f"{path}: no current context")


def _context(path: Path, cluster: Mapping[str, Any], user: Mapping[str, Any]) -> ssl.SSLContext:
    try:
        authority = _data(path, cluster, "certificate-authority")
        context = ssl.create_default_context(cadata=authority.decode() if authority else None)
        if cluster.get("insecure-skip-tls-verify"):
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        certificate, key = _data(path, user, "client-certificate"), _data(path, user, "client-key")
        if certificate and key:
            with tempfile.NamedTemporaryFile(prefix="podless-", suffix=".pem") as file:  # read only by its owner
                file.write(certificate + b"\n" + key)
                file.flush()
                context.load_cert_chain(file.name)
    except (OSError, ValueError, binascii.Error) as error:
        raise BadKubeconfig(f"{path}: certificates: {error}") from None
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context


def _data(path: Path, given: Mapping[str, Any], name: str) -> bytes:
    if given.get(f"{name}-data"):
        return base64.b64decode(given[f"{name}-data"])
    return (path.parent / given[name]).read_bytes() if given.get(name) else b""
