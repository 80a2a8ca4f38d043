"""What rules cost, and what would make them cheaper."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from podless.apis import offline
from podless.check.costs import estimate_costs, format_cost
from tests.apis.test_offline import definition

LIST = {"type": "array", "items": {"type": "string"}}


def crd(rule: str, **properties: Any) -> dict[str, Any]:
    spec = {"type": "object", "properties": properties, "x-kubernetes-validations": [{"rule": rule}]}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
    return definition(versions=[{"name": "v1", "served": True, "storage": True, "schema": schema}])


def refused(given: dict[str, Any]) -> bool:
    return any("estimated rule cost exceeds budget" in str(error) for error in offline.define_kind(given).errors)


def test_a_bound_that_is_named_is_the_largest_that_does() -> None:
    given = crd("self.all.all(x, self.all.exists(y, x == y))", all=LIST)
    [cost] = estimate_costs(given)
    [bound] = cost.alone
    assert (bound.at, bound.keyword) == ("properties[spec].properties[all]", "maxItems")
    assert refused(given)
    for most, too_much in ((bound.most, False), (bound.most + 1, True)):
        changed = copy.deepcopy(given)
        schema = changed["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
        schema["properties"]["spec"]["properties"]["all"]["maxItems"] = most
        assert refused(changed) is too_much


def test_bounds_that_only_do_together() -> None:
    inner = {"type": "array", "items": LIST}
    [cost] = estimate_costs(crd("self.a.all(x, x.all(y, self.b.exists(z, z == y)))", a=inner, b=LIST))
    assert not cost.alone or not cost.together
    assert {bound.keyword for bound in (*cost.alone, *cost.together)} <= {"maxItems", "maxLength"}
    assert cost.alone or cost.together


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("self.all.size() > 1", "of the limit for a rule"),
        ("self.all.all(x, self.all.exists(y, x == y))", "sufficient: maxItems: "),
        ("self.odd > 1", "does not compile: compilation failed: ERROR: <input>:1:5: undefined field 'odd'"),
    ],
)
def test_costs_are_told(rule: str, said: str) -> None:
    [cost] = estimate_costs(crd(rule, all=LIST))
    assert said in format_cost(cost)
