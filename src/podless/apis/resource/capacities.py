"""Validates capacities of devices, and policies for requests of them.

Source: Kubernetes' pkg/apis/resource/validation.
"""

from __future__ import annotations

import math
from functools import partial

from podless.apis.resource import parts
from podless.apis.shared.checks import Errors
from podless.codec import quantity
from podless.meta import field
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each

_MOST_VALUES = 10
_BOTH = 'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time'


def validate_capacity(capacity: Object, path: str, *, shared: bool) -> Errors:
    """Validate a capacity. shared: the device allows multiple allocations."""
    policy, where = capacity.get("requestPolicy"), f"{path}.requestPolicy"
    if policy is None:
        return
    if not shared:
        yield field.forbidden(where, "allowMultipleAllocations must be true")
        return
    values, bounds, usual = policy.get("validValues") or [], policy.get("validRange"), policy.get("default")
    if values and bounds is not None:
        yield field.forbidden(where, _BOTH)
    elif usual is None and (values or bounds is not None):
        name = "validValues" if values else "validRange"
        yield field.required(f"{where}.default", f"required when {name} is defined")
    elif values:
        yield from _values(values, usual, capacity["value"], f"{where}.validValues")
    elif bounds is not None:
        yield from _range(bounds, usual, capacity["value"], f"{where}.validRange")


def _values(values: list[str], usual: str, most: str, path: str) -> Errors:
    amounts = [quantity.parse_quantity(text) for text in each(values)]
    for place in range(1, len(values)):
        if amounts[place - 1] > amounts[place]:
            yield field.invalid(f"{path}[{place}]", values[place], "values must be sorted in ascending order")
    check = partial(_value, most)
    yield from parts.validate_set(values, _MOST_VALUES, path, check, lambda text: str(quantity.parse_units(text)))
    # surplus values are not compared
    if len(values) > _MOST_VALUES or quantity.parse_quantity(usual) not in amounts:
        yield field.invalid(path, usual, "default value is not valid according to the requestPolicy")


def _value(most: str, text: str, path: str) -> Errors:
    if quantity.parse_quantity(text) > quantity.parse_quantity(most):
        yield field.invalid(path, text, f"option is larger than capacity value: {most}")


def _range(bounds: Object, usual: str, most: str, path: str) -> Errors:
    low, high, step = (bounds.get(name) for name in ("min", "max", "step"))
    if low is None:
        yield field.required(f"{path}.min", "required when validRange is defined")
        return
    least, given, limit = (quantity.parse_quantity(text) for text in (low, usual, most))
    if least > limit:
        yield field.invalid(f"{path}.min", low, f"min is larger than capacity value: {most}")
    if given < least:
        yield field.invalid(f"{path}.min", usual, f"default is less than min: {low}")
    if high is not None:
        end = quantity.parse_quantity(high)
        if least > end:
            yield field.invalid(f"{path}.max", low, f"min is larger than max: {high}")
        if end > limit:
            yield field.invalid(f"{path}.max", high, f"max is larger than capacity value: {most}")
        if given > end:
            yield field.invalid(f"{path}.max", usual, f"default is more than max: {high}")
    if step is not None:
        if least + quantity.parse_quantity(step) > limit:
            why = f"one step {quantity.add_quantities((low, step))} is larger than capacity value: {most}"
            yield field.invalid(f"{path}.step", step, why)
        for text in filter(None, (usual, high)):
            yield from _step(text, low, step, f"{path}.step")


def _step(text: str, low: str, step: str, path: str) -> Errors:
    each, way = quantity.parse_units(step), quantity.parse_units(text) - quantity.parse_units(low)
    if not each or math.fmod(way, each):  # kube-apiserver fails if the step is zero
        yield field.invalid(path, text, f"value is not a multiple of a given step ({step}) from ({low})")
