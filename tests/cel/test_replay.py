"""What a real server answered to definitions and objects with rules, recorded; the rules alone say the same."""

from __future__ import annotations

import pathlib

import pytest

from tests.cel import replay

FOLDERS = ("cel", "crd", "schema", "validation", "pruning-defaulting", "realworld", "versions", "subresources", "apply")
FILES = replay.files(*FOLDERS)
here = pytest.mark.skipif(not FILES, reason=f"no recordings at {replay.SCENARIOS}")


@here
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_as_recorded(file: pathlib.Path) -> None:
    for number, got, wanted in replay.steps(file):
        assert got == wanted, f"step {number}"
