"""What discovery documents say of kinds, and that they cost what is in them, also where each kind has a group."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from podless.apis import catalog
from podless.apis.admissionregistration.group import MUTATING_BINDINGS, MUTATING_POLICIES
from podless.codec import serializer
from podless.kinds.fromdefinition import compile_kind
from podless.kinds.kind import Kind, Version
from podless.kinds.registry import AnnouncedVersion, Registry
from podless.publish import discovery
from tests.conftest import definition
from tests.cost import assert_linear


def served(count: int) -> Registry:
    registry = Registry()
    for number in range(count):
        crd = definition(f"g{number}.example.com")
        crd["metadata"]["uid"], crd["status"] = str(number), {}
        registry.put_kind(compile_kind(crd, serializer.encode_json(crd)))
    registry.set_announced(
        {(f"a{number}.example.com", "v1"): AnnouncedVersion(100, 15, True) for number in range(count)}
    )
    return registry


def aggregated_items(registry: Registry, *, core: bool) -> list[dict[str, Any]]:
    document = serializer.encode_json(discovery.make_aggregated_document(registry, core=core))
    return list(serializer.decode_json(document)["items"])


@pytest.mark.parametrize(
    "document",
    [discovery.make_groups_document, partial(discovery.make_aggregated_document, core=False)],
    ids=["groups", "aggregated"],
)
def test_a_document_costs_what_is_in_it_and_what_it_is_charged(document: Callable[[Registry], object]) -> None:
    assert_linear(document, served, size=50)


@pytest.mark.parametrize(
    "document",
    [discovery.make_groups_document, partial(discovery.make_aggregated_document, core=False)],
    ids=["groups", "aggregated"],
)
def test_kinds_may_go_and_come_while_a_document_is_made(
    document: Callable[[Registry], dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = served(4)
    registry.set_announced({})
    gone = iter([f"g{number}.example.com" for number in range(3)])

    def charge(steps: int) -> None:
        """Other requests delete definitions meanwhile, and make one."""
        if (group := next(gone, None)) is not None:
            registry.remove_kind(group, "gadgets")
            crd = definition("late.example.com")
            crd["metadata"]["uid"], crd["status"] = "late", {}
            registry.put_kind(compile_kind(crd, serializer.encode_json(crd)))

    monkeypatch.setattr(discovery, "charge", charge)
    shown = document(registry)
    names = {entry.get("name") or entry["metadata"]["name"] for entry in shown.get("groups") or shown["items"]}
    assert names <= {"g3.example.com", "late.example.com"}
    assert "g3.example.com" in names


def test_a_built_in_kind_names_another_group_version_only() -> None:
    registry = Registry()
    for kind in catalog.ALL:
        registry.put_kind(kind)
    [core] = aggregated_items(registry, core=True)
    pods = next(resource for resource in core["versions"][0]["resources"] if resource["resource"] == "pods")
    assert pods["responseKind"] == {"group": "", "version": "", "kind": "Pod"}
    answers = {subresource["subresource"]: subresource["responseKind"] for subresource in pods["subresources"]}
    assert answers["status"] == {"group": "", "version": "", "kind": "Pod"}
    assert answers["eviction"] == {"group": "policy", "version": "v1", "kind": "Eviction"}
    registry.put_kind(compile_kind(crd := definition("a.example.com") | {"status": {}}, serializer.encode_json(crd)))
    custom = next(one for one in aggregated_items(registry, core=False) if one["metadata"]["name"] == "a.example.com")
    assert custom["versions"][0]["resources"][0]["responseKind"]["group"] == "a.example.com"


def test_a_hash_names_the_version_that_a_real_server_stores() -> None:
    assert discovery.hash_storage_version(MUTATING_POLICIES) == "LYmCf+UMVdg="
    assert discovery.hash_storage_version(MUTATING_BINDINGS) == "90V5FRZZ3Zg="


def test_a_changed_definition_costs_no_descriptions_of_other_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    registry = served(4)
    before = aggregated_items(registry, core=False)
    described: list[str] = []
    describe = discovery._describe_aggregated

    def note_kind(kind: Kind, version: Version) -> dict[str, Any]:
        described.append(kind.group)
        return describe(kind, version)

    monkeypatch.setattr(discovery, "_describe_aggregated", note_kind)
    crd = definition("g2.example.com")
    crd["metadata"]["uid"], crd["status"] = "new", {}
    registry.put_kind(compile_kind(crd, serializer.encode_json(crd)))
    assert aggregated_items(registry, core=False) == before
    assert described == ["g2.example.com"]
