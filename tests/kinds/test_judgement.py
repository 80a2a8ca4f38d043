"""What is said of the metadata of changed objects, and how often."""

from __future__ import annotations

import pytest

from podless.kinds import judgement
from podless.kinds.builtin import ALL
from podless.kinds.kind import Kind

KINDS = {kind.plural: kind for kind in ALL if not kind.custom}


def faults(kind: Kind, subresource: str = "", **metadata: object) -> list[str]:
    """What is wrong with metadata that an update gives an object, without what is said of the rest."""
    version = kind.versions[0]
    head = {"kind": kind.kind, "apiVersion": kind.api_version(version.name)}
    before = {"name": "a", "resourceVersion": "1", **({"namespace": "default"} if kind.namespaced else {})}
    old, new = (
        kind.strategy.decode(kind, version, {**head, "metadata": given}, []) for given in (before, before | metadata)
    )
    found = judgement.of_change(kind, version, new, old, [], [], subresource=subresource)
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
