"""Compiled rules against a plain reading of the documents."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from podless.auth import rules
from podless.auth.authorizer import Attributes, PolicyRule
from podless.auth.rules import RoleRules
from tests.cost import assert_linear

VERBS = ["get", "list", "delete"]
GROUPS = ["", "g.io"]
RESOURCES = ["cogs", "gears"]
SUBS = ["status", "scale"]
NAMES = ["a", "b"]
PATHS = ["/a", "/a/b", "/ab", "/"]

PIECES = [*RESOURCES, *(f"{one}/{sub}" for one in RESOURCES for sub in SUBS), *(f"*/{sub}" for sub in SUBS), "*"]


def lists(items: list[str], least: int = 0) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(items), min_size=least, max_size=2, unique=True)


resource_rules = st.fixed_dictionaries(
    {"verbs": lists([*VERBS, "*"], 1), "apiGroups": lists([*GROUPS, "*"], 1), "resources": lists(PIECES, 1)},
    optional={"resourceNames": lists(NAMES)},
)
path_rules = st.fixed_dictionaries(
    {"verbs": lists([*VERBS, "*"], 1), "nonResourceURLs": lists([*PATHS, "/a*", "/a/*", "*"], 1)}
)
any_rule = resource_rules | path_rules
resources = st.builds(
    Attributes,
    verb=st.sampled_from(VERBS),
    group=st.sampled_from(GROUPS),
    resource=st.sampled_from(RESOURCES),
    subresource=st.sampled_from(["", *SUBS]),
    name=st.sampled_from(["", *NAMES]),
)
paths = st.builds(Attributes, verb=st.sampled_from(VERBS), path=st.sampled_from([*PATHS, "/a/b/c"]))


def plainly(rule: dict[str, Any], asked: Attributes) -> bool:
    """The documents' own words, one after the other."""
    if "*" not in rule["verbs"] and asked.verb not in rule["verbs"]:
        return False
    if asked.path:
        for url in rule.get("nonResourceURLs", []):
            if url == asked.path or (url[-1] == "*" and asked.path[: len(url) - 1] == url[:-1]):
                return True
        return False
    if not any(group in ("*", asked.group) for group in rule.get("apiGroups", [])):
        return False
    if rule.get("resourceNames") and asked.name not in rule["resourceNames"]:
        return False
    whole = f"{asked.resource}/{asked.subresource}" if asked.subresource else asked.resource
    wild = f"*/{asked.subresource}" if asked.subresource else None
    return any(resource in ("*", whole, wild) for resource in rule.get("resources", []))


def missing(held: list[PolicyRule], wanted: list[PolicyRule], most: int = 10_000) -> list[PolicyRule]:
    """What is missing, however the held rules are spread over roles."""
    found = rules.find_missing([RoleRules(held)], wanted, most)
    assert rules.find_missing([RoleRules([rule]) for rule in held], wanted, most) == found
    return found


def filled(rule: dict[str, Any], place: int, count: int) -> list[dict[str, Any]]:
    """A rule among so many others, of which each is for something else."""
    others = [
        {"verbs": ["get", f"v{i}"], "apiGroups": [""], "resources": ["other"], "resourceNames": [f"n{i}"]}
        for i in range(count)
    ]
    return [*others[:place], rule, *others[place:]]


@given(any_rule, resources | paths, st.integers(0, 200), st.sampled_from([0, 3, 200]))
def test_compiled_rules_allow_what_they_say(rule: dict[str, Any], asked: Attributes, place: int, count: int) -> None:
    assert RoleRules(filled(rule, place, count)).allows_request(asked) == plainly(rule, asked)


@given(st.lists(any_rule, max_size=4), resources | paths)
def test_several_rules_allow_what_one_of_them_says(held: list[dict[str, Any]], asked: Attributes) -> None:
    assert RoleRules(held).allows_request(asked) == any(plainly(rule, asked) for rule in held)


@given(st.lists(any_rule, max_size=3), any_rule)
def test_what_is_covered_gives_nothing_new(held: list[dict[str, Any]], wanted: dict[str, Any]) -> None:
    if missing(held, [wanted]):
        return
    for verb in VERBS:
        for path in [*PATHS, "/a/b/c", "/z"]:
            asked = Attributes(verb, path=path)
            assert not plainly(wanted, asked) or any(plainly(rule, asked) for rule in held)
        for group in GROUPS:
            for resource in RESOURCES:
                for sub in ["", *SUBS]:
                    for name in ["", *NAMES, "other"]:
                        asked = Attributes(verb, group, "v1", resource, sub, "", name)
                        assert not plainly(wanted, asked) or any(plainly(rule, asked) for rule in held)


@given(st.lists(any_rule, max_size=3))
def test_everybody_holds_what_they_hold(held: list[dict[str, Any]]) -> None:
    assert missing(held, held) == []


def test_what_is_missing_is_put_together_by_resource() -> None:
    wanted = {"verbs": ["get", "delete"], "apiGroups": ["g.io"], "resources": ["cogs"]}
    lacking = missing([{"verbs": ["get"], "apiGroups": ["*"], "resources": ["gears"]}], [wanted])
    assert [rules.format_rule(rule) for rule in lacking] == [
        '{APIGroups:["g.io"], Resources:["cogs"], Verbs:["get" "delete"]}'
    ]


def test_a_role_of_many_of_everything_costs_what_it_says() -> None:
    def named(stem: str, size: int) -> list[str]:
        return [f"{stem}{number}" for number in range(size)]

    def confirm(size: int) -> list[dict[str, Any]]:
        wanted = {"verbs": named("v", size), "apiGroups": named("g", size), "resources": named("r", size)}
        held = [{"verbs": ["*"], "apiGroups": ["*"], "resources": named("r", size // 2)}]
        return rules.find_missing([RoleRules(held)], [wanted], limit=100)

    assert_linear(confirm, lambda size: size, 100, charged=False)  # which is done on the loop
    assert len(confirm(1000)) == 1  # of what is missing only so much is told


def test_a_name_that_looks_like_a_wildcard_is_a_name() -> None:
    wanted = {"verbs": ["get"], "apiGroups": [""], "resources": ["cogs"], "resourceNames": ["a"]}
    assert missing([wanted | {"resourceNames": ["*"]}], [wanted]) == [wanted]
    assert missing([{**wanted, "resourceNames": []}], [wanted]) == []


def test_verbs_are_told_as_often_as_they_are_asked_for() -> None:
    wanted = {"verbs": ["get"], "apiGroups": [""], "resources": ["cogs", "cogs"]}
    assert [rule["verbs"] for rule in missing([], [wanted])] == [["get", "get"]]
