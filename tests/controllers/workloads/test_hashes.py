"""Names of templates."""

from __future__ import annotations

from podless.controllers.workloads import hashes


def test_the_same_says_the_same() -> None:
    assert (
        hashes.hash_template({"a": 1, "b": 2})
        == hashes.hash_template({"b": 2, "a": 1})
        != hashes.hash_template({"a": 1})
    )
    assert hashes.hash_template({}).isalnum()
