"""Rules over writes: every rule against a plain reading of what it says."""

from __future__ import annotations

import asyncio
import gc
from dataclasses import replace
from typing import Any
from weakref import ref

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podless.admission.attributes import AdmissionAttributes
from podless.admission.matching import ApplicableItems, MatchRule, ResourceMatching
from podless.admission.subject import AdmissionSubject
from podless.apis.core.group import CONFIG_MAPS, NAMESPACES
from podless.auth.user import ADMIN
from podless.kinds.kind import Kind, Version
from podless.meta.errors import APIError

GROUPS, PLURALS, VERSIONS = ("", "a.io", "b.io"), ("pods", "things"), ("v1", "v2", "v1beta1")
SUBRESOURCES, OPERATIONS = ("", "status", "scale"), ("CREATE", "UPDATE", "DELETE")
NAMES = ("x", "y")


def several(values: tuple[str, ...]) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from((*values, "*")), min_size=1, max_size=3)


RESOURCES = [f"{plural}/{sub}".removesuffix("/") for plural in (*PLURALS, "*") for sub in ("", "status", "scale", "*")]
RULES = st.fixed_dictionaries(
    {
        "operations": several(OPERATIONS),
        "apiGroups": several(GROUPS),
        "apiVersions": several(VERSIONS),
        "resources": st.lists(st.sampled_from(RESOURCES), min_size=1, max_size=3),
        "scope": st.sampled_from(["*", "Namespaced", "Cluster"]),
        "resourceNames": st.lists(st.sampled_from(NAMES), max_size=2),
    }
)


def kind(group: str, plural: str, namespaced: bool) -> Kind:
    versions = tuple(Version(name, status=True) for name in VERSIONS)
    return replace(CONFIG_MAPS, group=group, plural=plural, namespaced=namespaced, versions=versions)


@st.composite
def reviews(draw: Any) -> AdmissionAttributes:
    namespaced = draw(st.booleans())
    made = kind(draw(st.sampled_from(GROUPS)), draw(st.sampled_from(PLURALS)), namespaced)
    return AdmissionAttributes(
        operation=draw(st.sampled_from(OPERATIONS)),
        kind=made,
        version=draw(st.sampled_from(made.versions)),
        subresource=draw(st.sampled_from(SUBRESOURCES)),
        namespace="default" if namespaced else "",
        name=draw(st.sampled_from(NAMES)),
        obj={"metadata": {}},
        old=None,
        options={},
        dry_run=False,
        user=ADMIN,
    )


def said(rule: dict[str, Any], review: AdmissionAttributes, version: str) -> bool:
    """What the documentation of rules says, word by word."""
    asked = f"{review.kind.plural}/{review.subresource}".removesuffix("/")
    plural, _, sub = asked.partition("/")
    readings = {asked, f"*/{sub}" if sub else "*", f"{plural}/*", "*/*"}
    return (
        bool({review.operation, "*"} & set(rule["operations"]))
        and bool({review.kind.group, "*"} & set(rule["apiGroups"]))
        and bool({version, "*"} & set(rule["apiVersions"]))
        and bool(readings & set(rule["resources"]))
        and rule["scope"] in ("*", "Namespaced" if review.namespace else "Cluster")
        and (not rule["resourceNames"] or review.name in rule["resourceNames"])
    )


@given(RULES, reviews())
def test_a_rule_matches_what_it_says(rule: dict[str, Any], review: AdmissionAttributes) -> None:
    made = MatchRule.read(rule)
    for version in VERSIONS:
        matches = made.matches(review, review.kind, Version(version))
        assert matches == said(rule, review, version)
        assert not matches or made.may_match(review.operation, review.kind, review.subresource)


def find(matching: ResourceMatching, review: AdmissionAttributes) -> str | None:
    subject: Any = AdmissionSubject(review, None, None)  # type: ignore[arg-type]
    found = asyncio.run(matching.find_version(subject))
    return found.name if found is not None else None


@given(st.lists(RULES, max_size=3), reviews())
def test_equivalent_versions_are_found_and_the_own_one_first(
    rules: list[dict[str, Any]], review: AdmissionAttributes
) -> None:
    exact = find(ResourceMatching({"matchPolicy": "Exact"}, rules), review)
    fuzzy = find(ResourceMatching({"matchPolicy": "Equivalent"}, rules), review)
    own = review.version.name
    assert exact == (own if any(said(rule, review, own) for rule in rules) else None)
    if exact is not None:
        assert fuzzy == own
    elif fuzzy is not None:
        assert any(said(rule, review, fuzzy) for rule in rules)
    elif not review.subresource or review.subresource == "status":
        assert not any(said(rule, review, version) for rule in rules for version in VERSIONS)


@given(st.lists(RULES, min_size=1, max_size=3), st.lists(RULES, min_size=1, max_size=2), reviews())
def test_what_is_excluded_never_matches(
    rules: list[dict[str, Any]], excluded: list[dict[str, Any]], review: AdmissionAttributes
) -> None:
    whole = {"matchPolicy": "Exact", "resourceRules": rules}
    without = find(ResourceMatching.from_match_resources(whole), review)
    found = find(ResourceMatching.from_match_resources(whole | {"excludeResourceRules": excluded}), review)
    hidden = any(said(rule, review, review.version.name) for rule in excluded)
    assert found == (None if hidden else without)


def test_a_namespace_is_cluster_scoped_though_it_is_in_itself() -> None:
    review = AdmissionAttributes("CREATE", NAMESPACES, NAMESPACES.versions[0], "", "x", "x", {}, None, {}, False, ADMIN)
    rule = {"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"]}
    assert MatchRule.read(rule | {"scope": "Cluster"}).matches(review, review.kind, review.version)
    assert not MatchRule.read(rule | {"scope": "Namespaced"}).matches(review, review.kind, review.version)


def test_a_selector_that_is_wrong_concerns_only_the_writes_that_match() -> None:
    wrong = {"matchPolicy": "Exact", "objectSelector": {"matchLabels": {"a b": "c"}}}
    rule = {"operations": ["*"], "apiGroups": ["a.io"], "apiVersions": ["*"], "resources": ["*"]}
    matching = ResourceMatching(wrong, [rule])
    for group, fails in (("a.io", True), ("b.io", False)):
        made = kind(group, "things", False)
        review = AdmissionAttributes("CREATE", made, made.versions[0], "", "", "x", {}, None, {}, False, ADMIN)
        if fails:
            with pytest.raises(APIError, match="Internal error occurred: key: Invalid value"):
                find(matching, review)
        else:
            assert find(matching, review) is None


def test_a_deleted_kind_is_not_kept() -> None:
    rule = {"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"]}
    matching = ResourceMatching({}, [rule])
    concerned: ApplicableItems[str] = ApplicableItems(lambda *_: True, lambda _: False)
    concerned.set_items(["one"])
    made = kind("a.io", "things", True)
    attr = AdmissionAttributes(
        operation="CREATE",
        kind=made,
        version=made.versions[0],
        subresource="",
        namespace="default",
        name="x",
        obj={"metadata": {}},
        old=None,
        options={},
        dry_run=False,
        user=ADMIN,
    )
    assert matching.decide_by_rules(attr) is made.versions[0]
    assert concerned.select_items("CREATE", made, "") == ["one"]
    kept = ref(made)
    del made, attr
    gc.collect()
    assert kept() is None
