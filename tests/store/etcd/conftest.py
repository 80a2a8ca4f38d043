"""One etcd for the tests of this folder."""

from __future__ import annotations

import pytest

from tests.store.etcd.cluster import shared


@pytest.fixture
def etcd() -> str:
    """The URL of an etcd; each test takes a prefix of its own."""
    return shared().url
