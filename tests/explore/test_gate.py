"""What the gate of a run notes about requests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

import orjson
import pytest

from podless.auth.authorizer import Attributes
from podless.explore import gate
from podless.explore.election import Lease
from podless.explore.gate import GatedRun, RunHooks
from podless.explore.points import LogEntry
from podless.explore.schedule import HoldEvents, Schedule
from podless.explore.turns import Turns
from podless.http.message import HTTPRequest, Response, Sink, Stream


async def _find(asked: Attributes, name: str) -> None:
    return None


async def _note(entry: LogEntry) -> None:
    pass


async def _free(lease: Lease) -> None:
    pass


async def _rest(turns: Turns) -> None:
    pass


def _make_run(*perturbations: HoldEvents) -> GatedRun:
    hooks = RunHooks(lambda: 7, _find, lambda client: None, _note, _free)
    return GatedRun(Schedule(perturbations), hooks, Turns(_rest))


async def _open_watch(run: GatedRun, into: Sink | None = None) -> Sink:
    """Open a watch, and return what the server sends its events to."""
    opened: list[Sink] = []

    def start(sink: Sink) -> Callable[[], None]:
        opened.append(sink)
        return lambda: None

    request = HTTPRequest.of("GET", "/api/v1/configmaps?watch=true", {})
    answer = await run.answer_request("controller", request, lambda request: Stream(start))
    assert isinstance(answer, Stream)
    answer.start(into or _Sink())
    return opened[0]


class _Sink:
    def __init__(self) -> None:
        self.events: list[str] = []

    def send(self, data: bytes) -> bool:
        self.events.append(orjson.loads(data)["type"])
        return True

    def send_initial(self, pieces: Iterator[bytes]) -> None:
        pass

    def end(self) -> None:
        pass


async def test_a_client_that_asks_what_is_served_is_heard_but_has_not_started() -> None:
    run = _make_run()
    assert run.heard_clients == set()
    await run.answer_request("controller", HTTPRequest.of("GET", "/api", {}), lambda request: Response(200, [b"{}"]))
    assert run.heard_clients == {"controller"}
    assert run.log.entries == []


async def test_how_long_a_client_stays_away_after_a_cut_watch(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(gate, "_now", lambda: now)
    run = _make_run(HoldEvents("step 1", "configmaps", "skip"))
    sink = await _open_watch(run)
    run.begin_step("step 1", "step 1: apply", ["controller"])
    sink.send(b'{"type":"ADDED","object":{"metadata":{"resourceVersion":"8"}}}\n')
    assert run.end_round()
    assert run.lost_watches == {("controller", "configmaps")}
    assert run.longest_absence == 0
    now = 101.5
    await _open_watch(run)
    assert (run.lost_watches, run.longest_absence) == (set(), 1.5)
    now = 109.0
    await _open_watch(run)  # another one, which was not cut
    assert run.longest_absence == 1.5
    run.turns.end_turns()


@pytest.mark.parametrize(
    ("changes", "seen"),
    [
        (["ADDED a", "MODIFIED a"], ["ERROR"]),
        (["MODIFIED a", "DELETED a"], ["ERROR"]),
        (["ADDED a", "DELETED b"], ["ERROR"]),
        (["ADDED a", "DELETED a"], ["ADDED", "DELETED"]),
        (["ADDED a", "ADDED b", "MODIFIED a", "DELETED a"], ["ADDED", "ADDED", "MODIFIED", "DELETED"]),
    ],
)
async def test_events_are_not_missed_if_they_are_all_of_an_object(changes: list[str], seen: list[str]) -> None:
    run, into = _make_run(HoldEvents("step 1", "configmaps", "skip")), _Sink()
    sink = await _open_watch(run, into)
    run.begin_step("step 1", "step 1: apply", ["controller"])
    for revision, change in enumerate(changes, 8):
        kind, uid = change.split()
        metadata = {"uid": uid, "resourceVersion": str(revision)}
        sink.send(orjson.dumps({"type": kind, "object": {"metadata": metadata}}) + b"\n")
    assert run.end_round()
    for _ in range(10):  # turns are given by a task
        await asyncio.sleep(0)
    assert into.events == seen
    run.turns.end_turns()


async def test_the_past_is_before_what_a_list_showed() -> None:
    run = _make_run(HoldEvents("step 1", "configmaps", "past"))
    asked: list[str] = []

    def answer_list(request: HTTPRequest) -> Response:
        asked.append(request.query_text)
        return Response(200, [b'{"items":[{"metadata":{"resourceVersion":"5"}},{"metadata":{"resourceVersion":"6"}}]}'])

    async def list_all() -> None:
        await run.answer_request("controller", HTTPRequest.of("GET", "/api/v1/configmaps", {}), answer_list)

    await list_all()
    await _open_watch(run)
    run.begin_step("step 1", "step 1: apply", ["controller"])
    await list_all()
    assert asked[0] == ""
    assert "resourceVersion=5" in asked[1]
    run.turns.end_turns()
