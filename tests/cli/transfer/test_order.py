"""What is made stands behind what it needs, in whatever order it was written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podless.cli.transfer.documents import Documents
from podless.cli.transfer.order import Filter, Order, choose_kinds
from podless.meta.selectors import parse_labels
from podless.runtime.jsonobject import Object


def written(folder: Path, objects: list[Object], *, together: int = 1) -> Documents:
    """A file with them, some of them in lists."""
    lines = []
    for start in range(0, len(objects), together):
        some = objects[start : start + together]
        lines.append(json.dumps(some[0] if together == 1 else {"apiVersion": "v1", "kind": "List", "items": some}))
    (folder / "all.json").write_text("\n".join(lines) + "\n")
    return Documents([str(folder / "all.json")])


def refuse(text: str) -> None:
    raise AssertionError(text)


def order_of(documents: Documents, wanted: Filter | None = None) -> tuple[Order, list[Object]]:
    order = Order(documents, wanted or Filter(), refuse)
    return order, [obj for stage in order.list_stages() for obj in order.read_stage(documents, stage)]


def thing(number: int, *owners: int, kind: str = "Thing", api: str = "example.com/v1", **metadata: Any) -> Object:
    references = [{"apiVersion": api, "kind": kind, "name": f"n{owner}", "uid": f"u{owner}"} for owner in owners]
    metadata |= {"name": f"n{number}", "uid": f"u{number}"}
    return {"apiVersion": api, "kind": kind, "metadata": {**metadata, "ownerReferences": references}}


@given(st.data(), st.integers(1, 3))
def test_owners_are_made_first_and_all_once(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, together: int
) -> None:
    count = data.draw(st.integers(1, 8))
    # each is owned by some before it, so that there is no circle; or by what is not there
    owners = {one: data.draw(st.lists(st.sampled_from([*range(one), 99]), max_size=2)) for one in range(count)}
    objects = data.draw(st.permutations([thing(one, *owners[one]) for one in range(count)]))
    order, made = order_of(written(tmp_path_factory.mktemp("order"), objects, together=together))
    places = {obj["metadata"]["uid"]: index for index, obj in enumerate(made)}
    assert len(made) == len(places) == count == order.total
    for one in range(count):
        assert all(places[f"u{owner}"] < places[f"u{one}"] for owner in owners[one] if owner < count)
    assert set(order.owners) == {f"u{owner}" for named in owners.values() for owner in named if owner < count}


def test_circles_and_long_chains_come_to_an_end(tmp_path: Path) -> None:
    objects = [thing(0, 1), thing(1, 0), *(thing(one, one - 1) for one in range(3, 500))]
    order, made = order_of(written(tmp_path, objects))
    assert len(made) == order.total == len(objects)


KINDS = [
    ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"),
    ("v1", "ResourceQuota"),
    ("v1", "Pod"),
    ("v1", "ServiceAccount"),
    ("v1", "Namespace"),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
]


def test_kinds_that_others_need_or_are_judged_by(tmp_path: Path) -> None:
    objects = [thing(number, kind=kind, api=api) for number, (api, kind) in enumerate(KINDS)]
    _, made = order_of(written(tmp_path, objects))
    kinds = [obj["kind"] for obj in made]
    assert kinds[:4] == ["CustomResourceDefinition", "Namespace", "ServiceAccount", "Pod"]
    assert set(kinds[4:]) == {"ResourceQuota", "ValidatingWebhookConfiguration"}


def test_what_is_chosen_brings_along_what_it_needs(tmp_path: Path) -> None:
    definition = thing(0, kind="CustomResourceDefinition", api="apiextensions.k8s.io/v1")
    definition["spec"] = {"group": "example.com", "names": {"kind": "Thing"}}
    spaces = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in ("a", "b")]
    things = [thing(number, namespace="ab"[number % 2], labels={"n": str(number)}) for number in range(1, 5)]
    other = thing(9, kind="Other", api="other.com/v1", namespace="a")
    documents = written(tmp_path, [*things, other, *spaces, definition], together=2)

    def names(**wanted: Any) -> list[str]:
        order, made = order_of(documents, Filter(**wanted))
        assert order.total == len(made)
        return [obj["metadata"]["name"] for obj in made]

    assert names(kinds=["thing.example.com"], namespaces=["b"]) == ["n0", "b", "n1", "n3"]
    assert names(labels=parse_labels("n in (1,2)")) == ["n0", "a", "b", "n1", "n2"]
    assert names(kinds=["other"]) == ["a", "n9"]
    assert names(kinds=["none"]) == []


def test_kinds_of_the_files_are_chosen_by_each_of_their_names() -> None:
    names = {"plural": "policies", "singular": "policy", "kind": "Policy", "shortNames": ["pol"]}
    definition = {"spec": {"group": "example.com", "names": names}}
    for name in ("policies", "policy", "Policy", "pol", "pol.example.com"):
        assert choose_kinds([], [definition], [name]) == ["policy.example.com"]
    with pytest.raises(LookupError, match=r"--kind pol\.other: neither"):
        choose_kinds([], [definition], ["pol.other"])
    other = {"spec": {**definition["spec"], "group": "other.example.com"}}
    assert choose_kinds([], [definition, other], ["pol"]) == ["policy.example.com", "policy.other.example.com"]
