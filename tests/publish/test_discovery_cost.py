"""Discovery documents cost what is in them, also where each kind has a group of its own."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from podless.kinds.compile import compile_kind
from podless.kinds.registry import Announced, Registry
from podless.meta import codec
from podless.publish import discovery
from tests.conftest import definition
from tests.cost import assert_linear


def served(count: int) -> Registry:
    registry = Registry()
    for number in range(count):
        crd = definition(f"g{number}.example.com")
        crd["metadata"]["uid"], crd["status"] = str(number), {}
        registry.put(compile_kind(crd, codec.encode(crd)))
    registry.announce({(f"a{number}.example.com", "v1"): Announced(100, 15, True) for number in range(count)})
    return registry


@pytest.mark.parametrize(
    "document", [discovery.groups, partial(discovery.aggregated, core=False)], ids=["groups", "aggregated"]
)
def test_a_document_costs_what_is_in_it(document: Callable[[Registry], object]) -> None:
    assert_linear(document, served, size=50)
