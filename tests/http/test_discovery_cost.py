"""Discovery documents of many kinds are made in slices, and kept until a kind changes."""

from __future__ import annotations

import itertools

import pytest

from podless.runtime import slices
from podless.runtime.meter import charge
from podless.runtime.slices import _Worker
from tests.conftest import CRDS, Client, definition

_NUMBERS = itertools.count()
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


@pytest.mark.parametrize(
    ("path", "accept"),
    [("/apis", AGGREGATED), ("/apis", "application/json"), ("/apis/apps/v1", "application/json")],
)
def test_a_document_is_made_in_slices(client: Client, path: str, accept: str, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = []
    real = _Worker.yield_if_due

    def look(self: _Worker) -> None:
        looks.append(path)
        real(self)

    monkeypatch.setattr(slices, "SLICE", -1.0)
    monkeypatch.setattr(_Worker, "yield_if_due", look)
    monkeypatch.setattr("podless.publish.discovery.charge", lambda steps: charge(steps * 1024))
    assert (
        client.post(CRDS, definition(f"documents{next(_NUMBERS)}.example.com")).status == 201
    )  # so that nothing is kept from before
    looks.clear()
    answer = client.get(path, Accept=accept)
    assert answer.status == 200
    assert len(looks) > 2
