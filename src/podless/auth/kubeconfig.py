"""kubeconfig files."""

from __future__ import annotations

import base64
from typing import Any

import orjson


def by_token(token: str) -> dict[str, str]:
    """Return the `user` entry of a kubeconfig for a bearer token."""
    return {"token": token}


def by_certificate(certificate: bytes, key: bytes) -> dict[str, str]:
    """Return the `user` entry of a kubeconfig for a client certificate and key in PEM."""
    return {
        "client-certificate-data": base64.b64encode(certificate).decode(),
        "client-key-data": base64.b64encode(key).decode(),
    }


def make_kubeconfig(
    server: str, credentials: dict[str, str], authority: bytes | None, user: str = "admin", namespace: str = "default"
) -> bytes:
    """Return a kubeconfig with one cluster and one user, in JSON, which is also YAML.

    server: the URL. authority: the CA certificate in PEM, None for plain HTTP.
    """
    cluster: dict[str, Any] = {"server": server}
    if authority is not None:
        cluster["certificate-authority-data"] = base64.b64encode(authority).decode()
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "podless", "cluster": cluster}],
        "users": [{"name": user, "user": credentials}],
        "contexts": [{"name": "podless", "context": {"cluster": "podless", "user": user, "namespace": namespace}}],
        "current-context": "podless",
    }
    return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
