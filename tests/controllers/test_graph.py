"""Facts about the graph of owners, against a plain list of references."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from podless.controllers.garbage import GraphOwner, OwnerGraph
from podless.runtime.meter import METER, CPUMeter

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
            assert graph.put_owners(key, ()) == tuple(model.get(key, ()))
        model[key] = owners
    for key, owners in model.items():
        assert graph.list_owners(key) == tuple(owners)
    for group in ("", "example.com"):
        for name in "ab":
            wanted = {(k, o) for k, owners in model.items() for o in owners if (o.group, o.name) == (group, name)}
            assert set(graph.list_dependents(group, "Gadget", name)) == wanted


class _Interrupter(CPUMeter):
    """Looks at the graph at each charge, as other work can while this work is suspended."""

    def __init__(self, graph: OwnerGraph, owner: GraphOwner) -> None:
        super().__init__(3600.0)
        self._graph, self._owner = graph, owner
        self.steps_left = 0
        self.seen: list[int] = []

    def check_time(self) -> None:
        self.steps_left = 1 << 30  # the look itself is not interrupted
        self.seen.append(len(self._graph.list_dependents(*self._owner[:3])))
        self.steps_left = 0


def test_an_owner_has_its_dependents_also_while_their_owners_are_set_again() -> None:
    graph = OwnerGraph()
    owners = [GraphOwner("", "K", f"n{number}", "u", True) for number in range(5000)]
    graph.put_owners("a", owners)
    for owner, ends in ((owners[0], 1), (owners[-1], 0)):
        meter = _Interrupter(graph, owner)
        token = METER.set(meter)
        graph.put_owners("a", owners[: 4000 + 1000 * ends])
        METER.reset(token)
        assert meter.seen.count(1) >= 4  # it was interrupted
        assert meter.seen == sorted(meter.seen, reverse=True)
        assert graph.count_dependents(*owner[:3]) == ends


def test_a_reference_is_read_without_its_version() -> None:
    reference = {"apiVersion": "example.com/v1", "kind": "Gadget", "name": "a", "uid": "1", "blockOwnerDeletion": True}
    assert GraphOwner.read_reference(reference) == GraphOwner("example.com", "Gadget", "a", "1", True)
    assert GraphOwner.read_reference({"apiVersion": "v1", "kind": "ConfigMap"}) == GraphOwner(
        "", "ConfigMap", "", "", False
    )
