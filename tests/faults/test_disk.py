"""What a full disk does to a server: writes are refused, nothing that was acknowledged is lost, and it recovers."""

from __future__ import annotations

import resource
from typing import Any

import pytest

from tests.conftest import CRDS, Client, definition, gadget

GROUP = "disk.example.com"
OBJECTS = f"/apis/{GROUP}/v1/namespaces/default/gadgets"


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="a running process can be limited on Linux only")
def test_a_full_disk_refuses_writes_until_there_is_room(serve: Any) -> None:
    process = serve()
    client = Client(process.url, process.token)
    assert client.post(CRDS, definition(GROUP)).status == 201
    biggest = max(file.stat().st_size for file in process.folder.iterdir())
    # no file of the process may grow beyond this: to SQLite that is a disk without room
    resource.prlimit(process.popen.pid, resource.RLIMIT_FSIZE, (biggest + (256 << 10), resource.RLIM_INFINITY))
    kept: list[str] = []
    refused = None
    while refused is None:
        name = f"o{len(kept)}"
        answer = client.post(OBJECTS, gadget(GROUP, name, spec={"filling": "x" * 20_000}))
        if answer.status == 201:
            kept.append(name)
        else:
            refused = answer
    assert kept
    assert (refused.status, refused.body["kind"], refused.body["reason"]) == (500, "Status", "InternalError")
    assert [item["metadata"]["name"] for item in client.get(OBJECTS).body["items"]] == sorted(kept)

    resource.prlimit(process.popen.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert client.post(OBJECTS, gadget(GROUP, "later")).status == 201
    process.popen.kill()
    process.popen.wait()
    again = serve()
    client = Client(again.url, again.token)
    assert [item["metadata"]["name"] for item in client.get(OBJECTS).body["items"]] == sorted([*kept, "later"])
