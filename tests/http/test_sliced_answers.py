"""Answers that take long to make are made in slices: tables, other versions, other forms, and the same in watches."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from greenlet import getcurrent

from podless import Server
from podless.http import lists
from podless.http.clientmemory import ClientMemory
from podless.http.limits import Limits
from podless.http.outgoing import OutgoingAnswers, StreamSink
from podless.http.sending import PLAIN, DatedHeads
from podless.http.stream import WatchStream
from podless.kinds import view
from podless.offload.offloop import YieldingMeter
from podless.publish import table
from podless.runtime import pace, slices
from podless.runtime.meter import charge
from podless.runtime.pace import Pace
from podless.runtime.slices import IncompleteItem, SlicedIterator, SlicedWork, _Worker
from tests.conftest import CRDS, Client, definition

GROUP = "sliced.example.com"
PATH = f"/apis/{GROUP}/{{}}/namespaces/default/gadgets"
JSON = "application/json"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
PARTIAL = "application/json;as=PartialObjectMetadata{};v=v1;g=meta.k8s.io"
MANY = 40  # objects
_NUMBERS = itertools.count()
PARTS = [{"a": place, "b": [place]} for place in range(1700)]


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
    """How often work let others run, at the first place of a list: on the loop or beside it.

    A slice is over at each look at the clock.
    """
    suspended = [0]
    real, give_way = _Worker.yield_if_due, YieldingMeter.give_way

    def look(self: _Worker) -> None:
        suspended[0] += 1
        real(self)

    def look_beside(self: YieldingMeter) -> None:
        suspended[0] += 1
        give_way(self)

    monkeypatch.setattr(slices, "SLICE", -1.0)
    monkeypatch.setattr(_Worker, "yield_if_due", look)
    monkeypatch.setattr(YieldingMeter, "give_way", look_beside)
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


def test_changes_of_a_long_object_are_compared_in_slices(client: Client, count: list[int]) -> None:
    where = PATH.format("v1").replace("default", "kube-public")
    obj = {"apiVersion": f"{GROUP}/v1", "kind": "Gadget", "metadata": {"name": "changed"}, "parts": PARTS}
    assert client.post(where, obj).status == 201
    assert client.merge(f"{where}/changed", {"parts": [{**part, "a": "x"} for part in PARTS]}).status == 200
    count[0] = 0
    listed = client.get(
        "/apis/history.podless.dev/v1/namespaces/kube-public/history?fieldSelector=object.name%3Dchanged"
    )
    assert len(listed.body["items"][0]["fields"]) == len(PARTS) + 1  # with the generation
    assert count[0] >= 2 * len(PARTS) // 1024


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> tuple[list[str], list[int]]:
    """The names of the objects of which rows were made, and how many were under way at each beginning."""
    names: list[str] = []
    under_way: list[int] = []
    open_rows: list[str] = []
    real = table.make_row

    def make(layout: Any, obj: Any, *about: Any) -> Any:
        name = obj["metadata"].get("name", "")
        names.append(name)
        open_rows.append(name)
        under_way.append(len(open_rows))
        try:
            return real(layout, obj, *about)
        finally:
            open_rows.remove(name)

    for module in ("lists", "stream"):
        monkeypatch.setattr(f"podless.http.{module}.table.make_row", make)
    return names, under_way


def open_all(client: Client, many: int, path: str, **headers: str) -> list[tuple[Any, Any]]:
    """Send a request on so many connections, and read none of the answers."""
    opened = []
    for number in range(many):
        connection = client._connect()
        head = {"Authorization": f"Bearer {client._token}", "Accept": TABLE}
        head |= {name: value.format(number) for name, value in headers.items()}
        connection.request("GET", path, headers=head)
        opened.append((connection, None))
    return [(connection, connection.getresponse()) for connection, _ in opened]


EVERYBODY = {"Impersonate-User": "user{}", "Impersonate-Group": "system:masters"}


@pytest.mark.parametrize("users", [{}, EVERYBODY])
@pytest.mark.parametrize("query", ["", "?watch=1&timeoutSeconds=30"])
def test_equal_answers_make_each_row_once(
    client: Client, count: list[int], made: tuple[list[str], list[int]], query: str, users: dict[str, str]
) -> None:
    forget(client)
    opened = open_all(client, 6, PATH.format("v1") + query, **users)
    for _, answer in opened:
        found = [json.loads(answer.readline()) for _ in range(MANY if query else 1)]
        tables = [event["object"] for event in found] if query else found
        assert [row["cells"][0] for shown in tables for row in shown["rows"]] == names()
    for connection, _ in opened:
        connection.close()
    assert sorted(made[0]) == names()
    assert users or max(made[1]) == 1  # of one user, one at a time


def test_equal_lists_at_the_same_time_convert_each_object_once(
    client: Client, count: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    converted = []
    real = view._read_as_version

    def read(*about: Any) -> Any:
        converted.append(about)
        return real(*about)

    forget(client)
    monkeypatch.setattr(lists, "LONG_LIST", 8)
    monkeypatch.setattr(view, "_read_as_version", read)
    for connection, answer in open_all(client, 6, PATH.format("v2"), Accept=JSON):
        assert len(json.loads(answer.read())["items"]) == MANY
        connection.close()
    assert len(converted) == MANY


def test_watches_of_many_users_share_the_row_of_an_event(
    client: Client, count: list[int], made: tuple[list[str], list[int]]
) -> None:
    revision = get(client, "v1", query="?limit=1").body["metadata"]["resourceVersion"]
    path = f"{PATH.format('v1')}?watch=1&timeoutSeconds=30&resourceVersion={revision}"
    opened = open_all(client, 6, path, **EVERYBODY)
    client.merge(f"{PATH.format('v1')}/g9", {"metadata": {"labels": {"shared": revision}}})
    for connection, answer in opened:
        assert json.loads(answer.readline())["object"]["rows"][0]["cells"][0] == "g9"
        connection.close()
    assert made[0] == ["g9"]


async def until(true: Callable[[], bool]) -> None:
    """Let the loop go on until something is true."""
    async with asyncio.timeout(60):
        while not true():  # noqa: ASYNC110
            await asyncio.sleep(0)


async def test_a_begun_piece_is_completed_even_if_the_client_stops_reading(
    count: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pace, "_TURN_SECONDS", -1.0)  # one slice in each iteration of the loop
    sent: list[bytes] = []

    class Transport(asyncio.Transport):
        def write(self, data: Any) -> None:
            sent.append(bytes(data))

        def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
            pass

        def get_write_buffer_size(self) -> int:
            return 0

    def pieces() -> Iterator[bytes]:
        yield b"a"
        for _ in range(8):
            charge(2000)
        yield b"b"
        yield b"c"

    held = ClientMemory(1 << 20)
    out = OutgoingAnswers(held, Limits(), DatedHeads(), Pace())
    out.open(Transport())
    sink = out._sink = StreamSink(out, PLAIN, lambda: None)
    sink.send_initial(pieces())
    await until(lambda: count[0] >= 2)
    out.pause_sending()
    await until(lambda: len(sent) == 2)
    for _ in range(100):
        await asyncio.sleep(0)
    assert sent == [b"a", b"b"]
    assert held.total == 1
    out.resume_sending()
    await until(lambda: len(sent) == 3)
    assert held.total == 0
    out.close()


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
    real = WatchStream._render_events

    def render(self: WatchStream, seen: Any) -> bytes:
        before = count[0]
        data: bytes = real(self, seen)
        suspended.append(count[0] > before)
        return data

    monkeypatch.setattr(WatchStream, "_render_events", render)
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
    def items() -> Iterator[int]:
        for item in range(3):
            for _ in range(4):
                charge(2000)
            yield item

    pull, found, waits = SlicedIterator(SlicedWork(10.0), items()), list[int | None](), 0
    while None not in found:
        try:
            found.append(pull.next_item())
        except IncompleteItem:
            waits += 1
    assert found == [0, 1, 2, None]
    assert waits >= 6


def test_an_iterator_that_is_left_lets_go(count: list[int]) -> None:
    ended = []

    def items() -> Iterator[int]:
        try:
            for _ in range(10):
                charge(2000)
            yield 1
        finally:
            ended.append(True)

    pull = SlicedIterator(SlicedWork(10.0), items())
    with pytest.raises(IncompleteItem):
        pull.next_item()
    pull.close()
    assert ended


def test_an_iterator_raises_what_it_raises() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise ZeroDivisionError

    pull = SlicedIterator(SlicedWork(10.0), items())
    assert pull.next_item() == 1
    with pytest.raises(ZeroDivisionError):
        pull.next_item()


@pytest.fixture
def short(client: Client) -> str:
    """The name of a short object."""
    name = f"short{next(_NUMBERS)}"
    obj = {"apiVersion": f"{GROUP}/v1", "kind": "Gadget", "metadata": {"name": name}}
    assert client.post(PATH.format("v1"), obj).status == 201
    return name


@pytest.mark.parametrize("accept", [TABLE, PARTIAL, JSON, "application/yaml"])
@pytest.mark.parametrize("removed", [False, True])
def test_a_short_object_is_converted_in_slices(
    client: Client, short: str, accept: str, removed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    sliced = []
    real = view._read_as_version

    def read(kind: Any, version: Any, entry: Any) -> Any:
        if version.name == "v2":
            sliced.append(type(getcurrent()) is _Worker)
        return real(kind, version, entry)

    monkeypatch.setattr(view, "_read_as_version", read)
    if removed:
        query = f"?fieldSelector=metadata.name={short}"
        assert client.send("DELETE", PATH.format("v2") + query, Accept=accept.format("List")).status == 200
    else:
        get(client, "v2", short, accept=accept.format(""))
        client.send("DELETE", f"{PATH.format('v1')}/{short}")
    assert sliced
    assert all(sliced)


def test_a_watch_shows_short_objects_that_take_long_in_slices(
    client: Client, short: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sliced = []
    real = view._read_as_version

    def read(kind: Any, version: Any, entry: Any) -> Any:
        if version.name == "v2":
            sliced.append(type(getcurrent()) is _Worker)
            for _ in range(3):
                charge(1 << 12)
        return real(kind, version, entry)

    path = f"{PATH.format('v1')}/{short}"
    revision = client.get(path).body["metadata"]["resourceVersion"]
    watching = client._connect()
    query = f"?watch=1&timeoutSeconds=30&resourceVersion={revision}"
    head = {"Authorization": f"Bearer {client._token}", "Accept": TABLE}
    watching.request("GET", f"{PATH.format('v2')}{query}", headers=head)
    lines = watching.getresponse()
    monkeypatch.setattr(view, "_read_as_version", read)
    monkeypatch.setattr(slices, "SLICE", -1.0)
    revisions = [client.merge(path, {"n": place}).body["metadata"]["resourceVersion"] for place in range(3)]
    seen = [json.loads(lines.readline())["object"] for _ in range(3)]
    watching.close()
    client.send("DELETE", path)
    assert [one["metadata"]["resourceVersion"] for one in seen] == revisions
    assert [bool(one["columnDefinitions"]) for one in seen] == [True, False, False]
    assert sliced[:2] == [False, True]  # tried first, then made in slices
