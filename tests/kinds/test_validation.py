"""What is said of the metadata of changed objects, and how often."""

from __future__ import annotations

from typing import Any

import pytest

from podless.apis.catalog import ALL
from podless.kinds import validation
from podless.kinds.kind import Kind
from podless.meta import field
from podless.meta.field import FieldError
from tests.cost import lines

KINDS = {kind.plural: kind for kind in ALL if not kind.custom}


def faults(kind: Kind, subresource: str = "", **metadata: object) -> list[str]:
    """What is wrong with metadata that an update gives an object, without what is said of the rest."""
    version = kind.versions[0]
    head = {"kind": kind.kind, "apiVersion": kind.api_version(version.name)}
    before = {"name": "a", "resourceVersion": "1", **({"namespace": "default"} if kind.namespaced else {})}
    old, new = (
        kind.strategy.decode(kind, version, {**head, "metadata": given}, []) for given in (before, before | metadata)
    )
    found = validation.validate_change(kind, version, new, old, [], [], subresource=subresource)
    return [str(error) for error in found if str(error.field).startswith("metadata.")]


@pytest.mark.parametrize(
    ("plural", "subresource", "times"),
    [
        ("configmaps", "", 4),
        ("limitranges", "", 3),
        ("poddisruptionbudgets", "", 2),
        ("poddisruptionbudgets", "status", 2),
        ("cronjobs", "status", 2),
        ("certificatesigningrequests", "status", 4),
    ],
)
def test_a_real_server_says_it_as_often_as_it_looks(plural: str, subresource: str, times: int) -> None:
    assert len(faults(KINDS[plural], subresource, annotations={"c d": "x"})) == times


def test_names_are_looked_at_as_those_of_the_kind() -> None:
    general, own = faults(KINDS["configmaps"], generateName="A/B")
    assert general.endswith("may not contain '/'")
    assert "a lowercase RFC 1123 subdomain" in own


@pytest.mark.parametrize(
    ("plural", "known"), [("storageclasses", True), ("leases", False), ("poddisruptionbudgets", False)]
)
def test_finalizers_of_most_kinds_have_a_domain(plural: str, known: bool) -> None:
    found = faults(KINDS[plural], finalizers=["own"])
    assert any("name is neither a standard finalizer name" in text for text in found) is known


def sent(plural: str, **parts: object) -> dict[str, Any]:
    """A new object as it is judged."""
    kind = KINDS[plural]
    version = kind.versions[0]
    head = {"kind": kind.kind, "apiVersion": kind.api_version(version.name)}
    obj = kind.strategy.decode(kind, version, {**head, "metadata": {"name": "a", "namespace": "default"}, **parts}, [])
    kind.strategy.prepare_create(version, obj)
    return obj


def wrong(obj: dict[str, Any], plural: str) -> list[FieldError]:
    kind = KINDS[plural]
    return validation.validate_new(kind, kind.versions[0], obj, [])


MANY: dict[str, Any] = {
    "services": lambda size: {"spec": {"ports": [{"port": 0}] * size}},
    "clusterroles": lambda size: {"rules": [{"verbs": []}] * size},
    "endpoints": lambda size: {"subsets": [{"addresses": [{"ip": ""}] * size}]},
    "configmaps": lambda size: {"metadata": {"name": "a", "namespace": "default", "finalizers": ["-"] * size}},
}


@pytest.mark.parametrize("plural", MANY)
def test_a_look_ends_where_far_more_is_wrong_than_is_told(plural: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (field, validation):
        monkeypatch.setattr(module, "MAX", 500)
    monkeypatch.setattr(field, "_MAX_COLLECTED", 4 * 500)
    few, many = (sent(plural, **MANY[plural](size)) for size in (field.MAX, 4 * field.MAX))
    assert len(wrong(many, plural)) >= field.MAX
    told = [list(map(str, field.summarize_errors(wrong(obj, plural))[0])) for obj in (few, many)]
    assert told[0] == told[1]
    cost = [lines(lambda obj: wrong(obj, plural), obj) for obj in (few, many)]
    assert cost[1] < cost[0] * 2
