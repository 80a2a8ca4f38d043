"""What the gate of a run notes about requests."""

from __future__ import annotations

from podless.auth.attributes import Attributes
from podless.explore.election import Lease
from podless.explore.gate import GatedRun, RunHooks
from podless.explore.points import LogEntry
from podless.explore.schedule import Schedule
from podless.explore.turns import Turns
from podless.http.message import Request, Response


async def _find(asked: Attributes, name: str) -> None:
    return None


async def _note(entry: LogEntry) -> None:
    pass


async def _free(lease: Lease) -> None:
    pass


async def _rest(turns: Turns) -> None:
    pass


async def test_a_client_that_asks_what_is_served_is_heard_but_has_not_started() -> None:
    run = GatedRun(Schedule(), RunHooks(lambda: 1, _find, lambda client: None, _note, _free), Turns(_rest))
    assert run.heard == set()
    await run.answer("controller", Request("GET", "/api", {}), lambda request: Response(200, [b"{}"]))
    assert run.heard == {"controller"}
    assert run.log.entries == []
