"""What the gate of a run notes about requests."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from podless.auth.attributes import Attributes
from podless.explore import gate
from podless.explore.election import Lease
from podless.explore.gate import GatedRun, RunHooks
from podless.explore.points import LogEntry
from podless.explore.schedule import HoldEvents, Schedule
from podless.explore.turns import Turns
from podless.http.message import Request, Response, Sink, Stream


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


async def _open_watch(run: GatedRun) -> Sink:
    """Open a watch, and return what the server sends its events to."""
    opened: list[Sink] = []

    def start(sink: Sink) -> Callable[[], None]:
        opened.append(sink)
        return lambda: None

    request = Request("GET", "/api/v1/configmaps?watch=true", {})
    answer = await run.answer("controller", request, lambda request: Stream(start))
    assert isinstance(answer, Stream)
    answer.start(_Sink())
    return opened[0]


class _Sink:
    def send(self, data: bytes) -> bool:
        return True

    def pull(self, pieces: Iterator[bytes]) -> None:
        pass

    def end(self) -> None:
        pass


async def test_a_client_that_asks_what_is_served_is_heard_but_has_not_started() -> None:
    run = _make_run()
    assert run.heard == set()
    await run.answer("controller", Request("GET", "/api", {}), lambda request: Response(200, [b"{}"]))
    assert run.heard == {"controller"}
    assert run.log.entries == []


async def test_how_long_a_client_stays_away_after_a_cut_watch(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(gate, "_now", lambda: now)
    run = _make_run(HoldEvents("step 1", "configmaps", "skip"))
    sink = await _open_watch(run)
    run.begin_step("step 1", "step 1: apply", ["controller"])
    sink.send(b'{"type":"ADDED","object":{"metadata":{"resourceVersion":"8"}}}\n')
    assert run.release()
    assert run.lost == {("controller", "configmaps")}
    assert run.away == 0
    now = 101.5
    await _open_watch(run)
    assert (run.lost, run.away) == (set(), 1.5)
    now = 109.0
    await _open_watch(run)  # another one, which was not cut
    assert run.away == 1.5
    run.turns.end()


async def test_the_past_is_before_what_a_list_showed() -> None:
    run = _make_run(HoldEvents("step 1", "configmaps", "past"))
    asked: list[str] = []

    def answer_list(request: Request) -> Response:
        asked.append(request.query_text)
        return Response(200, [b'{"items":[{"metadata":{"resourceVersion":"5"}},{"metadata":{"resourceVersion":"6"}}]}'])

    async def list_all() -> None:
        await run.answer("controller", Request("GET", "/api/v1/configmaps", {}), answer_list)

    await list_all()
    await _open_watch(run)
    run.begin_step("step 1", "step 1: apply", ["controller"])
    await list_all()
    assert asked[0] == ""
    assert "resourceVersion=5" in asked[1]
    run.turns.end()
