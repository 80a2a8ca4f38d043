"""Packages whose parts are imported when they are asked for."""

from __future__ import annotations

import pytest

from podless.meta import lazy


def test_a_part_is_found_in_its_module() -> None:
    import podless.schema

    assert podless.schema.structural is podless.schema.definition.structural
    with pytest.raises(AttributeError, match=r"module 'podless\.schema' has no attribute 'nothing'"):
        _ = podless.schema.nothing  # type: ignore[attr-defined]


def test_a_part_is_not_called_as_its_module() -> None:
    with pytest.raises(ValueError, match=r"a\.b: c is in a module of the same name"):
        lazy.parts("a.b", {"c": "c"})
