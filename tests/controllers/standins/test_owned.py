"""Names of templates."""

from __future__ import annotations

from podless.controllers.standins import owned


def test_the_same_says_the_same() -> None:
    assert (
        owned.hash_template({"a": 1, "b": 2}) == owned.hash_template({"b": 2, "a": 1}) != owned.hash_template({"a": 1})
    )
    assert owned.hash_template({}).isalnum()
