"""Answers that take long to make are made in slices: tables, other versions, other forms, and the same in watches."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

import pytest

from podless import Server
from podless.http.stream import WatchStream
from podless.kinds import view
from podless.runtime import slices
from podless.runtime.slices import SlicedIterator, Slices, _Worker
from tests.conftest import CRDS, Client, definition

GROUP = "sliced.example.com"
PATH = f"/apis/{GROUP}/{{}}/namespaces/default/gadgets"
JSON = "application/json"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
PARTIAL = "application/json;as=PartialObjectMetadata{};v=v1;g=meta.k8s.io"
MANY = 40  # objects
_NUMBERS = itertools.count()
PARTS = [{"a": place, "b": [place]} for place in range(2500)]


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """Of a server with some objects that are long, in a kind of two versions with columns that look through them."""
    with Server(tls=False) as server:
        client = Client(server.url, server.token)
        body = definition(GROUP)
        columns = [{"name": f"C{place}", "type": "string", "jsonPath": f"..c{place}"} for place in range(20)]
        columns.append({"name": "A", "type": "integer", "jsonPath": "..a"})
        schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        body["spec"]["versions"] = [
            {
                "name": name,
                "served": True,
                "storage": name == "v1",
                "schema": {"openAPIV3Schema": schema},
                "additionalPrinterColumns": columns,
            }
            for name in ("v1", "v2")
        ]
        assert client.post(CRDS, body).status == 201
        for place in range(MANY):
            obj = {"apiVersion": f"{GROUP}/v1", "kind": "Gadget", "metadata": {"name": f"g{place}"}, "parts": PARTS}
            assert client.post(PATH.format("v1"), obj).status == 201
        yield client


@pytest.fixture
def count(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How often work was suspended, at the first place of a list. A slice is over at each look at the clock."""
    suspended = [0]
    real = _Worker.yield_if_due

    def look(self: _Worker) -> None:
        suspended[0] += 1
        real(self)

    monkeypatch.setattr(slices, "SLICE", -1.0)
    monkeypatch.setattr(_Worker, "yield_if_due", look)
    return suspended


def forget(client: Client) -> None:
    """Have the definition change, so that nothing that was made of the objects holds any longer."""
    names = {"categories": [f"c{next(_NUMBERS)}"]}
    assert client.merge(f"{CRDS}/gadgets.{GROUP}", {"spec": {"names": names}}).status == 200


def get(client: Client, version: str, name: str = "", query: str = "", accept: str = JSON) -> Any:
    answer = client.get(f"{PATH.format(version)}/{name}".rstrip("/") + query, Accept=accept)
    assert answer.status == 200, answer.body
    return answer


CASES = {
    "an object in another version": ("v2", "g1", "", JSON),
    "a list in another version": ("v2", "", "", JSON),
    "a page in another version": ("v2", "", "?limit=20", JSON),
    "a selection in another version": ("v2", "", "?labelSelector=!x", JSON),
    "an object as a table": ("v1", "g2", "", TABLE),
    "a list as a table": ("v1", "", "?limit=30", TABLE),
    "a list with objects as a table": ("v1", "", "?includeObject=Object", TABLE),
    "a list's metadata in another version": ("v2", "", "?limit=39", PARTIAL.format("List")),
    "an object for people": ("v1", "g3", "?pretty=true", JSON),
    "a list for people": ("v1", "", "?pretty=true", JSON),
    "an object as YAML": ("v1", "g4", "", "application/yaml"),
    "a list as YAML": ("v1", "", "", "application/yaml"),
}


@pytest.mark.parametrize("case", CASES)
def test_what_takes_long_is_made_in_slices(client: Client, case: str, count: list[int]) -> None:
    version, name, query, accept = CASES[case]
    forget(client)
    count[0] = 0
    get(client, version, name, query, accept)
    assert count[0] >= (MANY // 4 if not name else 1)


def test_sliced_answers_are_whole(client: Client, count: list[int]) -> None:
    shown = get(client, "v2", accept=TABLE).body
    assert [row["cells"] for row in shown["rows"]] == [[name, *[None] * 20, 0] for name in names()]
    assert [item["parts"] for item in get(client, "v2").body["items"]] == [PARTS] * MANY
    listed = get(client, "v2", query="?pretty=true").body
    assert [item["metadata"]["name"] for item in listed["items"]] == names()


def names() -> list[str]:
    return sorted(f"g{place}" for place in range(MANY))


@pytest.mark.parametrize("accept", [TABLE, PARTIAL.format(""), JSON])
def test_a_watch_tells_of_long_objects_in_slices_and_in_order(
    client: Client, count: list[int], accept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    suspended = []
    real = WatchStream._render

    def render(self: WatchStream, seen: Any) -> bytes:
        before = count[0]
        data: bytes = real(self, seen)
        suspended.append(count[0] > before)
        return data

    monkeypatch.setattr(WatchStream, "_render", render)
    revision = get(client, "v1", query="?limit=1").body["metadata"]["resourceVersion"]
    watching = client._connect()
    path = f"{PATH.format('v2')}?watch=1&timeoutSeconds=30&resourceVersion={revision}"
    watching.request("GET", path, headers={"Authorization": f"Bearer {client._token}", "Accept": accept})
    lines = watching.getresponse()
    for place in range(5):
        changed = client.merge(f"{PATH.format('v1')}/g{place}", {"metadata": {"labels": {"turn": revision}}})
        assert changed.status == 200
    seen = [json.loads(lines.readline()) for _ in range(5)]
    watching.close()
    assert [event["type"] for event in seen] == ["MODIFIED"] * 5
    told = [event["object"]["rows"][0]["object"] if accept == TABLE else event["object"] for event in seen]
    assert [one["metadata"]["name"] for one in told] == [f"g{place}" for place in range(5)]
    revisions = [int(one["metadata"]["resourceVersion"]) for one in told]
    assert revisions == sorted(revisions)
    assert suspended
    assert all(suspended)


@pytest.mark.parametrize("accept", [TABLE, PARTIAL.format(""), JSON])
def test_watches_with_selectors_of_their_own_look_into_a_long_object_once(
    client: Client, count: list[int], accept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = []
    real = view._read_as_version

    def read(*about: Any) -> Any:
        reads.append(about)
        return real(*about)

    revision = get(client, "v1", query="?limit=1").body["metadata"]["resourceVersion"]
    opened = []
    for place in range(6):
        watching = client._connect()
        query = f"?watch=1&timeoutSeconds=30&resourceVersion={revision}&labelSelector=!x{place}"
        head = {"Authorization": f"Bearer {client._token}", "Accept": accept}
        watching.request("GET", f"{PATH.format('v2')}{query}", headers=head)
        opened.append((watching, watching.getresponse()))
    monkeypatch.setattr(view, "_read_as_version", read)
    changed = client.merge(f"{PATH.format('v1')}/g7", {"metadata": {"labels": {"turn": revision}}})
    shown = [json.loads(lines.readline())["object"] for _, lines in opened]
    for watching, _ in opened:
        watching.close()
    told = [one["rows"][0]["object"] if accept == TABLE else one for one in shown]
    assert [one["metadata"]["resourceVersion"] for one in told] == [changed.body["metadata"]["resourceVersion"]] * 6
    if accept == TABLE:
        assert [one["metadata"]["resourceVersion"] for one in shown] == [told[0]["metadata"]["resourceVersion"]] * 6
    assert len([1 for _, version, _ in reads if version.name == "v2"]) == 1


def test_an_iterator_is_pulled_in_slices(count: list[int]) -> None:
    from podless.runtime.meter import charge
    from podless.runtime.slices import Incomplete

    def items() -> Iterator[int]:
        for item in range(3):
            for _ in range(4):
                charge(2000)
            yield item

    pull, found, waits = SlicedIterator(Slices(10.0), items()), list[int | None](), 0
    while None not in found:
        try:
            found.append(pull.next_item())
        except Incomplete:
            waits += 1
    assert found == [0, 1, 2, None]
    assert waits >= 6


def test_an_iterator_that_is_left_lets_go(count: list[int]) -> None:
    from podless.runtime.meter import charge
    from podless.runtime.slices import Incomplete

    ended = []

    def items() -> Iterator[int]:
        try:
            for _ in range(10):
                charge(2000)
            yield 1
        finally:
            ended.append(True)

    pull = SlicedIterator(Slices(10.0), items())
    with pytest.raises(Incomplete):
        pull.next_item()
    pull.close()
    assert ended


def test_an_iterator_raises_what_it_raises() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise ZeroDivisionError

    pull = SlicedIterator(Slices(10.0), items())
    assert pull.next_item() == 1
    with pytest.raises(ZeroDivisionError):
        pull.next_item()
