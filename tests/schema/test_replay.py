"""What a real server answered to creates, updates and definitions, recorded; Schema and structural() say the same."""

from __future__ import annotations

import pytest

from tests.conformance import recorded
from tests.schema import replay

pytestmark = pytest.mark.slow

AREAS = ("validation", "pruning-defaulting", "schema", "crd", recorded.REALWORLD)
# rules in CEL and missing schemas are others' to judge
JUDGED = [one for one in recorded.scenarios(*AREAS) if one["name"] != "crd-schema-required"]


@pytest.mark.parametrize(
    "area", [pytest.param(area, marks=[pytest.mark.slow] * (area == recorded.REALWORLD)) for area in AREAS]
)
def test_objects_are_pruned_defaulted_and_validated_as_recorded(area: str) -> None:
    compared = 0
    for recording in recorded.scenarios(area):
        for number, what, got, wanted in replay.steps(recording):
            assert got == wanted, f"{recording['name']} step {number}: {what}"
            compared += 1
    assert compared


@pytest.mark.parametrize("recording", JUDGED, ids=lambda recording: recording["name"])
def test_definitions_are_judged_as_recorded(recording: recorded.Recording) -> None:
    for number, got, wanted in replay.definitions(recording):
        assert got == wanted, f"step {number}"
