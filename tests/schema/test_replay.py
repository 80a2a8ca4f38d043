"""What a real server answered to creates, updates and definitions, recorded; Schema and structural() say the same."""

from __future__ import annotations

import pathlib

import pytest

from tests.schema import replay

FOLDERS = ("realworld", "validation", "pruning-defaulting", "schema", "crd")
FILES = replay.files(*FOLDERS)
here = pytest.mark.skipif(not FILES, reason=f"no recordings at {replay.SCENARIOS}")
# rules in CEL and missing schemas are others' to judge
NOT_OURS = ("crd-schema-required.json",)


@here
@pytest.mark.parametrize("folder", FOLDERS)
def test_objects_are_pruned_defaulted_and_validated_as_recorded(folder: str) -> None:
    compared = 0
    for file in replay.files(folder):
        for number, what, got, wanted in replay.steps(file):
            assert got == wanted, f"{file.name} step {number}: {what}"
            compared += 1
    assert compared


@here
@pytest.mark.parametrize("file", [file for file in FILES if file.name not in NOT_OURS], ids=lambda file: file.stem)
def test_definitions_are_judged_as_recorded(file: pathlib.Path) -> None:
    for number, got, wanted in replay.definitions(file):
        assert got == wanted, f"step {number}"
