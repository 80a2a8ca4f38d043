"""What tests of plans share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from podless import Server


@pytest.fixture
def server() -> Iterator[Server]:
    """The API that is planned for."""
    with Server(tls=False) as running:
        yield running
