"""API groups as their folders declare them."""

from __future__ import annotations

from pathlib import Path

import pytest

from podless import apis
from podless.apis.catalog import ALL, GROUPS, REGISTERED
from podless.apis.core.group import PODS
from podless.apis.shared.group import READ, Group
from podless.kinds.kind import Kind
from podless.kinds.late import NOT_YET


def test_every_folder_that_declares_a_group_is_in_the_list() -> None:
    folders = {file.parent.name for file in Path(apis.__file__).parent.glob("*/group.py")} - {"shared"}
    assert sorted(apis.FOLDERS) == sorted(folders)
    assert len(GROUPS) == len(folders)


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.resource)
def test_a_kind_has_its_rules_and_structs(kind: Kind) -> None:
    assert kind.strategy is not NOT_YET
    assert [kind.struct_of(version).name for version in kind.versions] == [kind.kind] * len(kind.versions)  # type: ignore[union-attr]
    assert kind in kind.views


@pytest.mark.parametrize(
    ("noun", "plural"),
    [
        ("Ingress", "ingresses"),
        ("NetworkPolicy", "networkpolicies"),
        ("Pod", "pods"),
        ("StorageClass", "storageclasses"),
    ],
)
def test_the_plural_follows_from_the_noun(noun: str, plural: str) -> None:
    assert Group("a.io").kind(noun).plural == plural


def test_a_group_names_what_a_decoder_knows() -> None:
    group = Group("a.io", view=((READ, "as"),), earlier={"v1beta1": "*", "v1alpha1": "C"}, unlisted={"v1": "D"})
    group.kind("A")
    group.review("Review")
    group.send("Options")
    assert group.list_registered() == {
        "v1": ["A", "AList", "Review", "Options", "D"],
        "v1beta1": ["A", "AList", "Review", "Options"],
        "v1alpha1": ["C", "CList"],
    }
    assert [kind.kind for kind in group.kinds] == ["A", "Review"]


def test_no_version_is_declared_as_served_and_as_earlier() -> None:
    for group in REGISTERED:
        served = {version.name for kind in group.kinds for version in kind.versions}
        assert not served & group.earlier.keys() or group.name == "extensions"  # has a kind that a real server forgot


@pytest.mark.parametrize(("kind", "version"), [("Eviction", "policy/v1"), ("Scale", "autoscaling/v1")])
def test_kinds_that_are_sent_below_others_are_registered(kind: str, version: str) -> None:
    assert (
        PODS.scheme.explain_unfit(kind, version, "core.Pod")
        == f"converting (v1.{kind}) to (core.Pod): unknown conversion"
    )


def test_versions_of_a_kind_have_releases_of_their_own() -> None:
    kind = Group("a.io").kind("Cup", versions=("v2", "v1", "v1beta1"), releases={"v2": "1.38-", "v1beta1": "-1.36"})
    assert [version.releases for version in kind.versions] == ["1.38-", "", "-1.36"]
