"""The server under test, set up as the recorded one was."""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

from podless import Server
from podless.apis.features import DEFAULT
from podless.runtime import clock
from tests.conformance.recorded import Recording
from tests.conformance.replay import Result, replay
from tests.conformance.wire import Client

TOKEN = "admintoken"
# the users of the recorded server
_TOKENS = f'{TOKEN},admin,admin,"system:masters"\nalicetoken,alice,alice,"devs"\n'


@contextlib.contextmanager
def running(*, bare: bool = False, tls: bool = True, release: str = DEFAULT) -> Iterator[Server]:
    """Start a server in memory with the users that the recordings name.

    bare: without controllers, because the corpora were recorded with an API server alone. tls: no recording needs it,
    and requests are cheaper without. release: of Kubernetes, such as 1.33.
    """
    with tempfile.TemporaryDirectory() as folder:
        tokens = Path(folder) / "tokens.csv"
        tokens.write_text(_TOKENS)
        if bare:
            options: dict[str, Any] = {"default_accounts": False, "garbage_delay": None}
        else:
            options = {}
        with Server(token_file=tokens, tls=tls, kubernetes_version=release, **options) as server:
            yield server


@contextlib.contextmanager
def standing_clock() -> Iterator[None]:
    """Stop the time that servers of this process write into objects; it moves only when a server's clock is advanced.

    managedFields are in the order of seconds. A recorder wrote within one second or paused, however busy this machine
    is.
    """
    start = int(time.time())

    def now(ahead: int = 0) -> str:
        return clock.format_time(start + int(clock.CURRENT.get().shift) + ahead)

    with mock.patch.object(clock, "now", now):
        yield


def replay_here(server: Server, recordings: Iterable[Recording], silence: float = 0) -> list[Result]:
    """Replay recordings against a server of this process. Pauses advance its clock instead of waiting.

    silence: as for `replay`.
    """
    client = Client(server.url, server.token)

    def pause(seconds: float) -> None:
        server.clock.advance(seconds=seconds)

    try:
        with standing_clock():
            return [replay(client, recording, pause, silence=silence) for recording in recordings]
    finally:
        client.close()
