"""A short write that takes longer than a slice begins again, and its answer does not show it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from greenlet import getcurrent

from podless.runtime import meter, slices
from podless.runtime.meter import DEFAULT
from tests.conftest import Client

MERGE, STRATEGIC = "application/merge-patch+json", "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"
PLACE = "/api/v1/namespaces/default/services"
SERVICE = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "again", "labels": {"a": "b"}}}


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
                raise slices._TooLong

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


def clean(body: Any) -> Any:
    """Return an answer without the values that differ between two objects."""
    for entry in (body.get("metadata") or {}).get("managedFields", ()):
        entry.pop("time")
    for name in ("uid", "resourceVersion", "creationTimestamp"):
        (body.get("metadata") or {}).pop(name, None)
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
