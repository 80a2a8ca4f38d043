"""The late engine of the tests keeps the contract, too."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from podless.store import Store
from tests.store.contract import Contract
from tests.store.late import LateStore


class TestLate(Contract):
    @pytest.fixture(params=range(3))
    async def store(self, request: pytest.FixtureRequest) -> AsyncIterator[Store]:
        store = LateStore(seed=request.param)
        await store.open()
        yield store
        await store.close()
