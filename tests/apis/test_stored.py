"""What releases read of what others have stored."""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from podless.apis.batch.group import JOBS
from podless.apis.core.group import SERVICES
from podless.apis.features import choose_release
from podless.apis.stored import KEY, make_read, note_release
from podless.kinds.kind import Kind
from podless.runtime.jsonobject import Object
from podless.store import Operation, Record, StoredValue, StoreError
from podless.store.sqlite import SQLiteStore

_PLACE = b'"resourceVersion":""'


def _record(obj: dict[str, Any], key: str = "/core/pods/default/a") -> Record:
    body = orjson.dumps(obj)
    return Record(key, StoredValue(body, body.index(_PLACE) + len(_PLACE) - 1), 5, 5)


def _pod(**spec: Any) -> dict[str, Any]:
    metadata = {"name": "a", "namespace": "default", "resourceVersion": "", "creationTimestamp": "2024-01-01T00:00:00Z"}
    containers = [{"name": "c", "image": "i", "resources": {}, "imagePullPolicy": "Always"}]
    return {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": metadata,
        "spec": {"containers": containers, "restartPolicy": "Always"} | spec,
        "status": {"phase": "Pending"},
    }


def _read(release: str, record: Record) -> Any:
    return orjson.loads(make_read(choose_release(release))(record).stored.with_revision(5))


@pytest.mark.parametrize(("release", "known"), [("1.33", False), ("1.34", True), ("1.36", True)])
def test_fields_that_a_release_does_not_have_are_not_read(release: str, known: bool) -> None:
    seen = _read(release, _record(_pod(hostnameOverride="b", volumes=[{"name": "v", "emptyDir": {"mode": 7}}])))
    assert ("hostnameOverride" in seen["spec"]) is known  # its gate is off in 1.34
    assert seen["spec"]["volumes"] == [{"name": "v", "emptyDir": {}}]
    assert seen["metadata"]["resourceVersion"] == "5"
    assert seen["spec"]["containers"] == _pod()["spec"]["containers"]


def test_what_a_release_always_has_is_read_and_what_it_omits_is_not() -> None:
    node = {"kind": "CSINode", "apiVersion": "storage.k8s.io/v1", "metadata": {"name": "a", "resourceVersion": ""}}
    older = _record(node | {"spec": {"drivers": []}}, "/storage.k8s.io/csinodes/a")
    assert _read("1.37", older)["status"] == {}
    pod = _pod()
    pod["metadata"]["creationTimestamp"] = None
    assert "creationTimestamp" not in _read("1.36", _record(pod))["metadata"]


def test_what_a_release_knows_is_read_as_it_is() -> None:
    record = _record(_pod())
    assert make_read(choose_release("1.30"))(record) is record


@pytest.mark.parametrize("body", [b"{}", b"k8s\0x", b"[]", b'{"apiVersion":3}', b'{"apiVersion":"v1","spec":3}', b""])
def test_what_is_no_object_is_read_as_it_is(body: bytes) -> None:
    record = Record("/core/pods/default/a", StoredValue(body), 5, 5)
    assert make_read(choose_release("1.30"))(record) is record


def test_custom_objects_keep_all_fields() -> None:
    record = _record({"kind": "Gear", "apiVersion": "example.com/v1", "metadata": {"resourceVersion": ""}, "x": 1})
    record = record._replace(key="/example.com/gears/default/a")
    assert make_read(choose_release("1.30"))(record) is record


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SQLiteStore]:
    opened = SQLiteStore(tmp_path / "db")
    await opened.open()
    yield opened
    await opened.close()


async def test_the_releases_that_have_written_are_noted(store: SQLiteStore) -> None:
    assert await note_release(store, choose_release("1.36")) is None
    written = await store.read_revision()
    assert await note_release(store, choose_release("1.36")) is None
    assert await store.read_revision() == written  # nothing new is to be noted
    for release in ("1.35", "1.36", "1.37", "1.36"):  # each may read what another one has written
        assert await note_release(store, choose_release(release)) is not None
    ((_, stored, *_),) = [record for record in (await store.read_range(KEY))[0] if record.key == KEY]
    assert stored.data == b"1.35-1.37"


async def test_a_note_that_is_no_release_is_an_error(store: SQLiteStore) -> None:
    await store.commit([Operation(KEY, StoredValue(b"x"), 0)])
    with pytest.raises(StoreError, match="'x', which is not a Kubernetes release"):
        await note_release(store, choose_release("1.36"))


@pytest.mark.parametrize(
    ("kind", "obj", "wanted"),
    [
        (
            SERVICES,
            {"spec": {"type": "ExternalName", "externalName": "a.example.com", "internalTrafficPolicy": "Cluster"}},
            {"spec": {"type": "ExternalName", "externalName": "a.example.com"}, "metadata": {}},
        ),
        (
            JOBS,
            {"spec": {"template": {"metadata": {"labels": {"app": "a"}}, "spec": {}}}},
            {
                "spec": {"template": {"metadata": {"labels": {"app": "a"}}, "spec": {}}},
                "metadata": {"labels": {"app": "a"}},
            },
        ),
    ],
)
def test_the_stored_form_is_another_object(kind: Kind, obj: Object, wanted: Object) -> None:
    head = {"kind": kind.kind, "apiVersion": kind.api_version(kind.storage_version)}
    shown: Object = head | {"metadata": {}} | obj
    before = copy.deepcopy(shown)
    assert kind.strategy.make_stored(kind, shown) == head | wanted
    assert shown == before
