"""Names of templates."""

from __future__ import annotations

from podless.controllers.workloads import hashes


def test_the_same_says_the_same() -> None:
    assert hashes.of({"a": 1, "b": 2}) == hashes.of({"b": 2, "a": 1}) != hashes.of({"a": 1})
    assert hashes.of({}).isalnum()
