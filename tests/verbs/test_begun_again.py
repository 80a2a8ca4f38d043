"""A short write that takes longer than a slice begins again, and its answer does not show it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from greenlet import getcurrent

from podless.runtime import meter, slices
from podless.runtime.meter import DEFAULT
from tests.conftest import CRDS, Client, definition, gadget

MERGE, STRATEGIC = "application/merge-patch+json", "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"
PLACE = "/api/v1/namespaces/default/services"
SERVICE = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "again", "labels": {"a": "b"}}}
GROUP = "again.example.com"
GADGETS = f"/apis/{GROUP}/v1/namespaces/default/gadgets"
PORT = {
    "type": "object",
    "properties": {"number": {"type": "integer"}, "protocol": {"type": "string", "default": "TCP"}},
}
PORTS = {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["number"], "items": PORT}
SPEC = {
    "type": "object",
    "properties": {
        "size": {"type": "integer", "default": 1},
        "ports": {**PORTS, "items": {**PORT, "required": ["number"]}},
    },
}


@pytest.fixture
def end_writes(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], list[int]]:
    """A function: each try of a write then ends at a check of the clock with this number, which it notes."""

    def start(number: int) -> list[int]:
        suspend, ended = DEFAULT.on_look, list[int]()
        assert suspend is not None
        looks = 0

        def look() -> None:
            nonlocal looks
            if getcurrent() not in slices._TRIED:
                suspend()
                return
            looks += 1
            if looks % number == 0:
                ended.append(looks)
                raise slices._TooLong(0.0)

        monkeypatch.setattr(meter, "_FEW_STEPS", 1)  # each charge checks the clock
        monkeypatch.setattr(DEFAULT, "steps_left", 1)
        monkeypatch.setattr(DEFAULT, "on_look", look)
        return ended

    return start


def answers(client: Client) -> list[Any]:
    """Write an object in all ways, and return the answers."""
    port = {"port": 80, "name": "a"}
    found = [
        client.send("POST", PLACE, {**SERVICE, "spec": {"ports": [port], "odd": 1}}),
        client.send("PATCH", f"{PLACE}/again", {"spec": {"odd": 1, "ports": [port]}}, Content_Type=MERGE),
        client.send(
            "PATCH", f"{PLACE}/again", b'{"spec":{"ports":[{"port":80,"targetPort":8.0}]}}', Content_Type=STRATEGIC
        ),
        client.send("PATCH", f"{PLACE}/again", b'{"spec":1.0}', Content_Type=STRATEGIC),
        client.send(
            "PATCH",
            f"{PLACE}/again?fieldManager=m&force=true",
            {**SERVICE, "spec": {"ports": [port], "sessionAffinity": "ClientIP"}},
            Content_Type=APPLY,
        ),
    ]
    present = client.get(f"{PLACE}/again").body
    present["spec"]["sessionAffinity"] = "None"
    found.append(client.send("PUT", f"{PLACE}/again?dryRun=All", present))
    found.append(client.send("PUT", f"{PLACE}/again", present))
    client.send("DELETE", f"{PLACE}/again")
    return [(one.status, one.headers.get("Warning"), clean(one.body)) for one in found]


def custom_answers(client: Client) -> list[Any]:
    """Write a custom object with defaults in all ways, and return the answers."""
    ports = {"ports": [{"number": 1}, {"number": 2}]}
    item = f"{GADGETS}/again"
    found = [
        client.send("POST", GADGETS, gadget(GROUP, "again", spec=ports, odd=1)),
        client.send("PATCH", item, {"spec": {"ports": [{"number": 3}]}}, Content_Type=MERGE),
        client.send("PATCH", f"{item}?fieldManager=m", gadget(GROUP, "again", spec=ports), Content_Type=APPLY),
        client.send("PATCH", f"{item}?fieldManager=n", gadget(GROUP, "again", spec=ports), Content_Type=APPLY),
        client.send(
            "PATCH",
            item,
            [{"op": "add", "path": "/spec/ports/-", "value": {"number": 4}}],
            Content_Type="application/json-patch+json",
        ),
        client.send("PUT", item, gadget(GROUP, "again", spec=ports)),
        client.send("DELETE", item),
        client.send("PATCH", f"{item}?fieldManager=m", gadget(GROUP, "again", spec=ports), Content_Type=APPLY),
        client.send("DELETE", item),
    ]
    return [(one.status, one.headers.get("Warning"), clean(one.body)) for one in found[:-1]]


def clean(body: Any) -> Any:
    """Return an answer without the values that differ between two objects."""
    for entry in (body.get("metadata") or {}).get("managedFields", ()):
        entry.pop("time", None)
    for name in ("uid", "resourceVersion", "creationTimestamp"):
        (body.get("metadata") or {}).pop(name, None)
    (body.get("details") or {}).pop("uid", None)
    for name in ("clusterIP", "clusterIPs"):
        (body.get("spec") or {}).pop(name, None)
    return body


@pytest.mark.parametrize("number", [1, 2, 3, 5, 8, 13])
def test_a_write_that_begins_again_has_the_same_answer(
    client: Client, end_writes: Callable[[int], list[int]], number: int
) -> None:
    expected = answers(client)
    ended = end_writes(number)
    assert answers(client) == expected
    assert ended


@pytest.fixture
def defined(client: Client) -> None:
    schema = {"type": "object", "properties": {"spec": SPEC}}
    assert client.post(CRDS, definition(GROUP, schema={"openAPIV3Schema": schema})).status in (201, 409)


@pytest.mark.parametrize("number", [1, 2, 3, 5, 8, 13, 21])
@pytest.mark.usefixtures("defined")
def test_a_write_of_a_custom_object_that_begins_again_has_the_same_answer(
    client: Client, end_writes: Callable[[int], list[int]], number: int
) -> None:
    expected = custom_answers(client)
    ended = end_writes(number)
    assert custom_answers(client) == expected
    assert ended


@pytest.mark.parametrize("write", [answers, custom_answers])
@pytest.mark.usefixtures("defined")
def test_a_write_that_begins_again_after_its_last_stage_has_the_same_answer(
    client: Client, monkeypatch: pytest.MonkeyPatch, write: Callable[[Client], list[Any]]
) -> None:
    expected = write(client)
    tries = []

    def try_work(self: slices.SlicedWork, work: Callable[..., Any], *args: Any) -> None:
        tries.append(work(*args))

    monkeypatch.setattr(slices.SlicedWork, "try_work", try_work)
    assert write(client) == expected
    assert tries
