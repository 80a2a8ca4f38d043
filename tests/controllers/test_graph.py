"""Facts about the graph of owners, against a plain list of references."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from podless.controllers.garbage import GraphOwner, OwnerGraph

KEYS = st.sampled_from([f"/example.com/gadgets/default/{name}" for name in "abcd"])
OWNERS = st.builds(
    GraphOwner,
    st.sampled_from(["", "example.com"]),
    st.just("Gadget"),
    st.sampled_from("ab"),
    st.sampled_from("12"),
    st.booleans(),
)
STEPS = st.lists(st.tuples(KEYS, st.lists(OWNERS, max_size=3)))


@given(STEPS)
def test_it_knows_what_was_said_last(steps: list[tuple[str, list[GraphOwner]]]) -> None:
    graph, model = OwnerGraph(), dict[str, list[GraphOwner]]()
    for key, owners in steps:
        if owners:
            graph.put_owners(key, owners)
        else:
            assert graph.remove_object(key) == tuple(model.get(key, ()))
        model[key] = owners
    for key, owners in model.items():
        assert graph.list_owners(key) == tuple(owners)
    for group in ("", "example.com"):
        for name in "ab":
            wanted = {(k, o) for k, owners in model.items() for o in owners if (o.group, o.name) == (group, name)}
            assert set(graph.list_dependents(group, "Gadget", name)) == wanted


def test_a_reference_is_read_without_its_version() -> None:
    reference = {"apiVersion": "example.com/v1", "kind": "Gadget", "name": "a", "uid": "1", "blockOwnerDeletion": True}
    assert GraphOwner.read_reference(reference) == GraphOwner("example.com", "Gadget", "a", "1", True)
    assert GraphOwner.read_reference({"apiVersion": "v1", "kind": "ConfigMap"}) == GraphOwner(
        "", "ConfigMap", "", "", False
    )
