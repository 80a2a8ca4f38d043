"""A leader election with a Lease, as client-go has it: one of several instances works, the others wait."""

from __future__ import annotations

import datetime
import os
import threading
import time
from typing import Any

from lightkube import ApiError, Client
from lightkube.models.coordination_v1 import LeaseSpec
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.coordination_v1 import Lease

_RETRY = 1.0  # seconds between two attempts to get or to renew the lease
_DEADLINE = 10.0  # seconds without a renewal, after which a leader ends
_IDENTITY = f"{os.getpid()}-{time.time_ns()}"


def wait_until_leading(client: Client, name: str) -> None:
    """Return when this process leads. It then renews the lease, and ends the process when it cannot."""
    seen: Any = None
    since = time.monotonic()
    while True:
        try:
            lease = _read(client, name)
            if lease.metadata.resourceVersion != seen:
                seen, since = lease.metadata.resourceVersion, time.monotonic()
            if not lease.spec.holderIdentity or time.monotonic() - since > _DEADLINE:
                _write(client, lease)
                break
        except ApiError as error:
            print(f"lease: {error}", flush=True)
        time.sleep(_RETRY)
    threading.Thread(target=_renew, args=[client, name], daemon=True).start()


def _renew(client: Client, name: str) -> None:
    renewed = time.monotonic()
    while time.monotonic() - renewed < _DEADLINE:
        time.sleep(_RETRY)
        try:
            lease = _read(client, name)
            if lease.spec.holderIdentity in ("", _IDENTITY):
                _write(client, lease)
                renewed = time.monotonic()
        except ApiError as error:
            print(f"lease: {error}", flush=True)
    print("another instance leads", flush=True)
    os._exit(1)


def _read(client: Client, name: str) -> Lease:
    try:
        return client.get(Lease, name, namespace="default")
    except ApiError as error:
        if error.status.reason != "NotFound":
            raise
        return client.create(
            Lease(metadata=ObjectMeta(name=name, namespace="default"), spec=LeaseSpec(holderIdentity=""))
        )


def _write(client: Client, lease: Lease) -> None:
    lease.spec.holderIdentity = _IDENTITY
    lease.spec.renewTime = datetime.datetime.now(datetime.UTC)
    client.replace(lease)
