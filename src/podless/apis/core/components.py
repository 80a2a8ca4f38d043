"""componentstatuses: probes the control plane's components at each request; nothing is stored.

As kube-apiserver does, it probes a scheduler and a controller manager on its own machine. Source: Kubernetes'
pkg/registry/core/componentstatus, and componentStatusStorage of pkg/registry/core/rest.
"""

from __future__ import annotations

import asyncio
import ssl

from podless.apis.core.group import COMPONENT_STATUSES
from podless.cache.entry import Entry
from podless.codec import serializer
from podless.meta.errors import APIError
from podless.runtime.jsonobject import Object
from podless.store import Store, StoreError

_STORE = "etcd-0"
_PORTS = {"controller-manager": 10257, "scheduler": 10259}
_HOST, _PATH = "127.0.0.1", "/healthz"
_SECONDS = 5.0  # timeout of one probe
_MAX = 10 << 10  # bytes of a probe's answer that are read
_NOWHERE = "/health"  # a key that does not exist: the read only shows that the store answers


async def list_components(store: Store) -> list[Entry]:
    """Return the status of all components, by name."""
    names = sorted((_STORE, *_PORTS))
    return list(await asyncio.gather(*(_make_entry(store, name) for name in names)))


async def _make_entry(store: Store, name: str) -> Entry:
    condition = await (_probe_store(store) if name == _STORE else _probe_port(_PORTS[name]))
    kind = COMPONENT_STATUSES
    head = {"kind": kind.kind, "apiVersion": kind.api_version("v1"), "metadata": {"name": name}}
    return Entry.make_unstored(kind.key("", name), serializer.encode_json({**head, "conditions": [condition]}))


def _make_condition(healthy: bool, message: str = "", error: str = "") -> Object:
    condition = {"type": "Healthy", "status": "True" if healthy else "False", "message": message, "error": error}
    return {name: text for name, text in condition.items() if text}


async def _probe_store(store: Store) -> Object:
    try:
        await store.read_range(_NOWHERE)
    except (StoreError, APIError) as error:
        return _make_condition(healthy=False, error=str(error))
    return _make_condition(healthy=True, message="ok")


async def _probe_port(port: int) -> Object:
    """Return the Healthy condition of a component, from its local port. Its certificate is not verified."""
    prefix = f'Get "https://{_HOST}:{port}{_PATH}": '
    try:
        async with asyncio.timeout(_SECONDS):
            head, body = await _request_health(port)
    except TimeoutError:
        return _make_condition(healthy=False, message=f"{prefix}context deadline exceeded")
    except ConnectionRefusedError:
        return _make_condition(healthy=False, message=f"{prefix}dial tcp {_HOST}:{port}: connect: connection refused")
    except (OSError, ValueError) as error:
        return _make_condition(healthy=False, message=f"{prefix}{type(error).__name__}")
    code = int(head.split()[1])
    if 200 <= code < 400:
        return _make_condition(healthy=True, message=body)
    return _make_condition(healthy=False, message=f"HTTP probe failed with statuscode: {code}")


async def _request_health(port: int) -> tuple[str, str]:
    """Return the status line and the body of an answer. Raises OSError, or ValueError for an invalid one."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    reader, writer = await asyncio.open_connection(_HOST, port, ssl=context)
    try:
        writer.write(f"GET {_PATH} HTTP/1.0\r\nHost: {_HOST}:{port}\r\n\r\n".encode())
        raw = await reader.read(_MAX)
        while len(raw) < _MAX and (chunk := await reader.read(_MAX - len(raw))):
            raw += chunk
    finally:
        writer.close()
    head, blank_line, body = raw.decode("utf-8", "replace").partition("\r\n\r\n")
    first = head.partition("\r\n")[0]
    if not blank_line or not first.startswith("HTTP/1.") or not first.split()[1].isdigit():
        raise ValueError("no HTTP")
    return first, body
