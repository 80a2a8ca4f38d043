"""What a full disk does to a server: writes are refused, nothing that was acknowledged is lost, and it recovers."""

from __future__ import annotations

import resource
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import CRDS, Client, definition, gadget

pytestmark = pytest.mark.slow

GROUP = "disk.example.com"
FULL = (507, "InsufficientStorage", "the disk of the database is full: only deletes are accepted until there is room")
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
    assert (refused.status, refused.body["reason"], refused.body["message"]) == FULL
    assert [item["metadata"]["name"] for item in client.get(OBJECTS).body["items"]] == sorted(kept)

    resource.prlimit(process.popen.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert client.post(OBJECTS, gadget(GROUP, "later")).status == 201
    process.popen.kill()
    process.popen.wait()
    again = serve()
    client = Client(again.url, again.token)
    assert [item["metadata"]["name"] for item in client.get(OBJECTS).body["items"]] == sorted([*kept, "later"])


def test_no_object_grows_without_bound(client: Client) -> None:
    assert client.post(CRDS, definition("large." + GROUP)).status == 201
    home = f"/apis/large.{GROUP}/v1/namespaces/default/gadgets"
    assert client.post(home, gadget("large." + GROUP, "one", spec={"filling": "x" * 1_500_000})).status == 201
    refused = client.merge(f"{home}/one", {"spec": {"more": "x" * 100_000}})
    assert refused.status == 500
    assert refused.body == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": "etcdserver: request is too large",
        "code": 500,
    }
    assert "more" not in client.get(f"{home}/one").body["spec"]
    # built-in kinds count as a real server stores them, where a quote is one byte
    quotes = {"metadata": {"name": "quotes"}, "data": {"text": '"' * 1_000_000}}
    assert client.post("/api/v1/namespaces/default/configmaps", quotes).status == 201


def test_what_ever_new_managers_apply_is_bounded(client: Client) -> None:
    assert client.post(CRDS, definition("managers." + GROUP)).status == 201
    path = f"/apis/managers.{GROUP}/v1/namespaces/default/gadgets/one?fieldManager="
    fields = {f"field-with-a-long-name-{number}": number for number in range(4000)}
    obj = gadget("managers." + GROUP, "one", spec=fields)
    statuses = [
        client.send("PATCH", f"{path}m{number}", obj, Content_Type="application/apply-patch+yaml").status
        for number in range(20)
    ]
    assert statuses[0] == 201
    assert statuses[-1] == 500


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="a running process can be limited on Linux only")
def test_it_is_not_ready_while_the_disk_is_full(serve: Any) -> None:
    process = serve()
    client = Client(process.url, process.token)
    assert client.get("/readyz").status == 200
    resource.prlimit(process.popen.pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
    refused = client.post("/api/v1/namespaces", {"metadata": {"name": "more"}})
    assert (refused.status, refused.body["reason"], refused.body["message"]) == FULL
    assert [client.get(path).status for path in ("/readyz", "/readyz/etcd-readiness", "/livez")] == [500, 500, 200]
    assert client.get("/api/v1/namespaces/default").status == 200
    resource.prlimit(process.popen.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert client.get("/readyz").status == 200
    assert client.post("/api/v1/namespaces", {"metadata": {"name": "more"}}).status == 201


def test_a_database_that_is_taken_away_is_told(serve: Any) -> None:
    process = serve()
    client = Client(process.url, process.token)
    file = process.folder / "podless.db"
    file.rename(file.with_name("aside"))
    assert client.get("/readyz/etcd-readiness").status == 500
    assert client.post("/api/v1/namespaces", {"metadata": {"name": "more"}}).status == 500
    file.with_name("aside").rename(file)
    assert client.get("/readyz/etcd-readiness").status == 200
    assert client.post("/api/v1/namespaces", {"metadata": {"name": "more"}}).status == 201


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A folder on a file system of 32 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32m", "tmpfs", str(folder)], check=False)
    if mounted.returncode:
        pytest.skip("file systems cannot be mounted here")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(folder: Path, name: str) -> Path:
    """A file that takes all the room that is left."""
    path = folder / name
    with path.open("wb", buffering=0) as file:
        while True:
            try:
                file.write(b"x" * 4096)
            except OSError:
                break
    return path


def test_deletes_go_on_on_a_full_disk(serve: Any, disk: Path) -> None:
    process = serve(folder=disk / "data")
    client = Client(process.url, process.token)
    assert client.post(CRDS, definition(GROUP)).status == 201
    assert client.post("/api/v1/namespaces", {"metadata": {"name": "full"}}).status == 201
    names = [f"o{number}" for number in range(40)]
    for name in names:
        metadata = {"name": name, "finalizers": ["example.com/f"]}
        filling = {"filling": "x" * 100_000}
        assert client.post(OBJECTS, gadget(GROUP, name, spec=filling, metadata=metadata)).status == 201
    filled = fill(disk, "filled")
    refused = client.post(OBJECTS, gadget(GROUP, "large", spec={"filling": "x" * 1_000_000}))
    while refused.status == 201:  # what the log had room for
        refused = client.post(OBJECTS, gadget(GROUP, "large", metadata={"generateName": "large-"}))
    assert (refused.status, refused.body["reason"], refused.body["message"]) == FULL
    assert {client.send("DELETE", f"{OBJECTS}/{name}").status for name in names} == {200}
    released = {client.merge(f"{OBJECTS}/{name}", {"metadata": {"finalizers": None}}).status for name in names}
    assert released == {200}
    assert client.send("DELETE", "/api/v1/namespaces/full").status == 200
    left = {item["metadata"]["name"] for item in client.get(OBJECTS).body["items"]}
    assert not left & set(names)
    filled.unlink()
    assert client.post(OBJECTS, gadget(GROUP, "later")).status == 201
    assert client.get("/readyz").status == 200


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="a running process can be limited on Linux only")
def test_a_server_without_room_starts_and_can_be_read(serve: Any) -> None:
    process = serve()
    client = Client(process.url, process.token)
    assert client.post(CRDS, definition(GROUP)).status == 201
    assert client.post(OBJECTS, gadget(GROUP, "one", spec={"filling": "x" * 20_000})).status == 201
    process.popen.kill()
    process.popen.wait()
    (process.folder / "podless.db-reserve").write_bytes(b"")  # as deletes on the full disk leave it
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        again = serve()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    client = Client(again.url, again.token)
    assert [item["metadata"]["name"] for item in client.get(OBJECTS).body["items"]] == ["one"]
    assert [client.get(path).status for path in ("/livez", "/readyz", "/readyz/etcd-readiness")] == [200, 500, 500]
    refused = client.post(OBJECTS, gadget(GROUP, "two"))
    assert (refused.status, refused.body["reason"], refused.body["message"]) == FULL
    resource.prlimit(again.popen.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert client.post(OBJECTS, gadget(GROUP, "two")).status == 201
    assert client.get("/readyz").status == 200
