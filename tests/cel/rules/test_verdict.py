"""The verdict on the rules of a node follows from what they refer to, and is made once for that."""

from __future__ import annotations

import copy
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podless.cel.rules import verdict
from podless.runtime.jsonobject import Object, Schema
from tests.conftest import tries
from tests.schema import strategies

RULES = st.lists(
    st.sampled_from(
        [
            *("true", "", "self.a", "self.a == self.b", "has(self.a)", "self.all(x, x.a > 1)", "self[0].b.c == 'b'"),
            *("self == oldSelf", "self.metadata.name == self.kind", "self.exists(k, self[k] == self[k])", "self.?a.b"),
            *("self.`a` == 1", "'`' in self.b || '`' in self.c", "self.map(x, x.c).size() > 2", "size(self) < 'a'"),
            *("self.a.matches(self.b)", "dyn(self).zz == self.__kind__", "a.b == 1", "self.a.b.c +", "self.none"),
        ]
    ),
    min_size=1,
    max_size=3,
)


def rule(text: str, **more: Any) -> Object:
    return {"rule": text, "message": "told", **more}


def judge_whole(node: Schema, resource: bool) -> verdict.NodeVerdict:
    """The verdict that follows from all of the node."""
    with mock.patch.object(verdict, "_reduce_node", lambda whole, names: dict(whole)):
        return verdict.judge_node(node, resource=resource)


@settings(max_examples=tries(300))
@given(strategies.nodes(), RULES, st.booleans(), st.data())
def test_what_rules_do_not_refer_to_has_no_effect_on_their_verdict(
    node: Schema, texts: list[str], resource: bool, data: st.DataObject
) -> None:
    node = copy.deepcopy(node)
    rules = [rule(text) for text in texts]
    rules[0] |= data.draw(st.sampled_from([{}, {"messageExpression": "string(self.c)"}, {"optionalOldSelf": True}]))
    node["x-kubernetes-validations"] = rules
    assert verdict.judge_node(node, resource=resource) == judge_whole(node, resource)


@pytest.mark.parametrize(
    ("name", "text"),
    [("a", "self.a > 0"), ("a-b", "self.a__dash__b > 0"), ("in", "self.__in__ > 0"), ("a", "'`' != '' && self.a > 0")],
)
def test_a_rule_sees_the_fields_that_it_names(name: str, text: str) -> None:
    node = {"type": "object", "properties": {name: {"type": "integer"}}, "x-kubernetes-validations": [rule(text)]}
    (judged,) = verdict.judge_node(node, resource=False).rules
    assert not judged.error
    del node["properties"]
    (judged,) = verdict.judge_node(node, resource=False).rules
    assert "undefined field" in judged.error


def make_node(**properties: Schema) -> Schema:
    item = {"type": "object", "properties": properties, "required": ["r"]}
    return {
        "type": "object",
        "properties": {"items": {"type": "array", "items": item}},
        "x-kubernetes-validations": [rule("self.items.all(each, each.known > 16180)")],
    }


def test_definitions_that_differ_elsewhere_share_a_verdict() -> None:
    known = {"known": {"type": "integer"}, "r": {"type": "string"}}
    first = verdict.judge_node(make_node(**known, other={"type": "string"}), resource=True)
    with mock.patch.object(verdict, "compile_rule") as compile_rule:
        same = make_node(more={"type": "boolean"}, **copy.deepcopy(known))
        same["properties"]["items"]["description"] = "told"
        same["x-kubernetes-validations"][0]["message"] = "told in other words"
        assert verdict.judge_node(same, resource=True) is first
        assert not compile_rule.called
    # the sizes of required fields limit the number of items, and so the cost
    smaller = verdict.judge_node(
        make_node(**known | {"r": {"type": "object", "required": ["s"], "properties": {"s": known["r"]}}}),
        resource=True,
    )
    assert smaller.rules[0].cost < first.rules[0].cost
