"""A request that is cut off in the middle of its work leaves nothing half made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from podless.offload import offloop
from podless.runtime.jsonobject import Object
from podless.runtime.meter import DEFAULT, METER
from tests.conftest import CRDS, Client, definition
from tests.cost import Allowance

GROUP = "cut-off.example.com"
STEPS = 1000  # that a piece of work may be charged
SIZE = 5_000  # keys of an object, enough for work off the loop


def data(size: int) -> Object:
    return {"data": {f"k{number}": "v" for number in range(size)}}


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """No piece of work beside the loop gets done, until the fixture is called."""
    with monkeypatch.context() as patch:
        patch.setattr(offloop, "make_meter", lambda seconds, loop: Allowance(STEPS))
        yield patch.undo
    assert METER.get() is DEFAULT


@pytest.fixture(scope="module")
def kinds(server: Any) -> str:
    client = Client(server.url, server.token)
    listed = {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}
    one = {
        "type": "object",
        "properties": {"data": {"type": "object", "additionalProperties": {"type": "string"}}, "l": listed},
    }
    assert client.post(CRDS, definition(GROUP, schema={"openAPIV3Schema": one})).status in (201, 409)
    client.close()
    return f"/apis/{GROUP}/v1/namespaces/default/gadgets"


PATCHES = ("application/merge-patch+json", "application/json-patch+json", "application/apply-patch+yaml")


@pytest.mark.parametrize("custom", [False, True])
def test_a_request_that_is_cut_off_leaves_nothing_half_made(
    client: Client, kinds: str, late: Callable[[], None], custom: bool
) -> None:
    path = kinds if custom else "/api/v1/namespaces/default/configmaps"
    head = {"apiVersion": f"{GROUP}/v1", "kind": "Gadget"} if custom else {"apiVersion": "v1", "kind": "ConfigMap"}
    long = {**head, "metadata": {"name": "cut-off"}, **data(SIZE)}
    short = {**head, "metadata": {"name": "cut-off"}, "data": {"k": "v"}}
    answer = client.post(path, long)
    assert (answer.status, answer.body["reason"]) == (504, "Timeout")
    assert client.get(f"{path}/cut-off").status == 404
    assert client.post(path, short).status == 201  # which is not long
    before = client.get(f"{path}/cut-off").body
    told = {"resourceVersion": before["metadata"]["resourceVersion"]}
    sent: dict[str, Any] = {
        PATCHES[0]: data(SIZE),
        PATCHES[1]: [{"op": "add", "path": f"/data/k{number}", "value": "v"} for number in range(1500)],
        PATCHES[2]: long,
    }
    assert client.send("PUT", f"{path}/cut-off", {**long, "metadata": {**long["metadata"], **told}}).status == 504
    for media, body in sent.items():
        assert client.send("PATCH", f"{path}/cut-off?fieldManager=m", body, Content_Type=media).status == 504
    assert client.get(f"{path}/cut-off").body == before
    late()
    for media, body in sent.items():
        force = "&force=true" if media == PATCHES[2] else ""
        again = client.send("PATCH", f"{path}/cut-off?fieldManager=m{force}", body, Content_Type=media)
        assert again.status == 200, again.body
    assert len(client.get(f"{path}/cut-off").body["data"]) == SIZE + 1
    assert client.send("DELETE", f"{path}/cut-off").status == 200
    assert client.post(path, long).status == 201
    assert client.send("DELETE", f"{path}/cut-off").status == 200
