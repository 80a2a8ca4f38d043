"""Requests that are as bad as 3 MB can be: what they are made of."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

MAX = 3 * 1024 * 1024 - 4096  # bytes of a body
GROUP = "worst.example.com"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
THINGS = f"/apis/{GROUP}/v1/namespaces/default/things"
MAPS = "/api/v1/namespaces/default/configmaps"
ROLES = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles"
JSON, YAML, PROTOBUF = "application/json", "application/yaml", "application/vnd.kubernetes.protobuf"
MERGE, PATCH = "application/merge-patch+json", "application/json-patch+json"
STRATEGIC, APPLY = "application/strategic-merge-patch+json", "application/apply-patch+yaml"

Ask = tuple[str, str, bytes, dict[str, str]]  # method, path, body, headers


def ask(method: str, path: str, body: bytes = b"", media: str = JSON, **headers: str) -> Ask:
    return (
        method,
        path,
        body,
        {"Content-Type": media} | {key.replace("_", "-"): value for key, value in headers.items()},
    )


def text(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def crd(plural: str, schema: Any, **more: Any) -> dict[str, Any]:
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}} | more
    names = {"plural": plural, "kind": plural.title()}
    spec = {"group": GROUP, "scope": "Namespaced", "names": names, "versions": [version]}
    meta = {"name": f"{plural}.{GROUP}"}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": meta, "spec": spec}


def named(spec: Any, name: str = "a", kind: str = "Things") -> Any:
    return {"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}


def config(name: str, data: Any = None, **metadata: Any) -> Any:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **metadata}, "data": data or {}}


def upto(item: Callable[[int], bytes], size: int = MAX) -> bytes:
    """Items with commas between, up to a size."""
    parts: list[bytes] = []
    left = size
    while left > 0:
        parts.append(item(len(parts)))
        left -= len(parts[-1]) + 1
    return b",".join(parts[:-1])


def thing(field: str, items: bytes, name: str = "a") -> bytes:
    return text(named({field: 0}, name)).replace(b'"%b":0' % field.encode(), b'"%b":[%b]' % (field.encode(), items))


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes((*out, number))


def raw(token: str, asked: Ask) -> bytes:
    method, path, body, headers = asked
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    if "Authorization" not in headers:
        lines += f"Authorization: Bearer {token}\r\n"
    head = f"{method} {path} HTTP/1.1\r\nHost: bench\r\n{lines}"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
