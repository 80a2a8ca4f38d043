"""kubeconfig files."""

from __future__ import annotations

import base64
from typing import Any

import orjson


def kubeconfig(server: str, token: str, authority: bytes | None, user: str = "admin") -> bytes:
    """A kubeconfig with one cluster and one user, in JSON, which is YAML too.

    server: the URL. authority: the CA certificate in PEM, or None for plain HTTP.
    """
    cluster: dict[str, Any] = {"server": server}
    if authority is not None:
        cluster["certificate-authority-data"] = base64.b64encode(authority).decode()
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "podless", "cluster": cluster}],
        "users": [{"name": user, "user": {"token": token}}],
        "contexts": [{"name": "podless", "context": {"cluster": "podless", "user": user, "namespace": "default"}}],
        "current-context": "podless",
    }
    return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
