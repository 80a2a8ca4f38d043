"""Expressions over a write run in slices: others are served while they take long."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from podless.runtime import meter, slices
from podless.runtime.slices import SlicedWork
from tests.admission.conftest import World

LENGTH = 220  # of a list that an expression looks at as often as it has items
SLICES = 20  # that one expression takes at the least, of a slice for each look at the clock
LONG = "object.spec.tags.all(x, object.spec.tags.all(y, x != 'x' || y != 'y'))"
TRUE = [{"name": "long", "expression": LONG}]


def in_a_webhook(world: World) -> None:
    world.hook(lambda asked: {}, matchConditions=[{"name": "long", "expression": f"!{LONG}"}])


WAYS: dict[str, Callable[[World], object]] = {
    "validation": lambda world: world.validate(LONG),
    "variable": lambda world: world.validate("variables.long", variables=TRUE),
    "condition": lambda world: world.validate("true", matchConditions=TRUE),
    "message": lambda world: world.validate(
        actions=("Warn",), validations=[{"expression": "false", "messageExpression": f"{LONG} ? 'long' : ''"}]
    ),
    "annotation": lambda world: world.validate(
        "true", auditAnnotations=[{"key": "long", "valueExpression": f"{LONG} ? 'long' : ''"}]
    ),
    "mutation": lambda world: world.change(f"{LONG} ? Object{{}} : Object{{}}"),
    "mutation's condition": lambda world: world.change("Object{}", matchConditions=TRUE),
    "webhook's condition": in_a_webhook,
}


@pytest.mark.parametrize("way", WAYS)
def test_a_long_expression_is_evaluated_in_slices(world: World, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    count = 0
    real = SlicedWork.request_turn

    def turn(self: SlicedWork, took: float) -> asyncio.Future[None]:
        nonlocal count
        count += 1
        return real(self, took)

    def turns(name: str) -> int:
        """Return the turns of the loop that slices take while an object is created."""
        nonlocal count
        count = 0
        assert world.create(name, tags=["x"] * LENGTH).status == 201
        return count

    assert world.create("before", tags=["x"] * LENGTH).status == 201
    monkeypatch.setattr(slices, "SLICE", -1.0)
    monkeypatch.setattr(SlicedWork, "request_turn", turn)
    without = min(turns(f"without-{place}") for place in range(3))  # controllers take some as well
    WAYS[way](world)
    assert turns("with") >= without + SLICES


@pytest.mark.parametrize("way", WAYS)
def test_a_write_whose_expressions_take_too_long_is_ended(
    world: World, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    WAYS[way](world)
    assert world.create("before", tags=["x"]).status == 201
    with monkeypatch.context() as patch:
        patch.setattr(meter, "MIN_TIME", 0.0)
        patch.setattr(meter, "TIME_PER_BYTE", 0.0)
        answer = world.create("long", tags=["x"] * LENGTH)
        assert (answer.status, answer.body["reason"]) == (504, "Timeout")
    assert world.create("long", tags=["x"] * LENGTH).status == 201
