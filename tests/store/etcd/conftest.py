"""One etcd for the tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.store.etcd.cluster import Member


@pytest.fixture(scope="session")
def etcd() -> Iterator[str]:
    """The URL of an etcd; each test takes a prefix of its own."""
    member = Member()
    member.start()
    try:
        member.ready()
        yield member.url
    finally:
        member.stop()
        member.folder.cleanup()
