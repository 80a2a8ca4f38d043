"""What kubectl shows of kube-apiserver, it shows of this server."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from podless import Server
from tests.conformance import recorded, sessions
from tests.conformance.servers import running

pytestmark = [
    pytest.mark.slow,
    pytest.mark.clients,
    pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not on this machine"),
]


@pytest.fixture(scope="module")
def served() -> Iterator[Server]:
    with running() as server:
        yield server


@pytest.mark.parametrize("session", recorded.sessions(), ids=lambda session: session["name"])
def test_a_person_sees_the_same(served: Server, session: recorded.Recording) -> None:
    wrong = sessions.play(session, served.url, served.token)
    assert not wrong, "\n".join(wrong)
