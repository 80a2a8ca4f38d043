"""The server that is compared, set up as the recorded one was."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

from podless import Server

TOKEN = "admintoken"
# the users of the server that was recorded
_TOKENS = f'{TOKEN},admin,admin,"system:masters"\nalicetoken,alice,alice,"devs"\n'


@contextlib.contextmanager
def running(*, bare: bool = False, tls: bool = True) -> Iterator[Server]:
    """A server in memory with the users that the recordings speak of.

    bare: without the controllers, for the corpora were recorded with an API server alone.
    tls: no recording is about it, and without it a conversation costs less.
    """
    with tempfile.TemporaryDirectory() as folder:
        tokens = Path(folder) / "tokens.csv"
        tokens.write_text(_TOKENS)
        if bare:
            with Server(token_file=tokens, tls=tls, default_accounts=False, garbage_delay=None) as server:
                yield server
        else:
            with Server(token_file=tokens, tls=tls) as server:
                yield server
