"""Sets of fields against plain Python sets of paths."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podless.codec import serializer
from podless.fields import sets
from podless.fields.sets import Fields, Path

ELEMENTS = st.one_of(
    st.sampled_from(["f:a", "f:b", "f:", "f:.", "f:k:x"]),
    st.sampled_from(['k:{"name":"x"}', 'k:{"name":"x","port":80}', 'v:"a"', "v:1", "v:true", "i:0", "i:10"]),
)
PATHS = st.lists(ELEMENTS, min_size=1, max_size=4).map(tuple)
SETS = st.frozensets(PATHS, max_size=8)


def model(fields: Fields) -> frozenset[Path]:
    found = list(sets.list_paths(fields))
    assert len(found) == len(set(found))
    return frozenset(found)


def sound(fields: Fields, top: bool = True) -> bool:
    """No node is empty without being a member, and the whole has no member mark."""
    if top:
        return sets.SELF not in fields and all(sound(node, False) for node in fields.values())
    below = [node for name, node in fields.items() if name != sets.SELF]
    return (bool(below) or fields == {}) and all(sound(node, False) for node in below)


@given(SETS)
def test_a_set_has_its_paths(paths: frozenset[Path]) -> None:
    fields = sets.make_set(*paths)
    assert sound(fields)
    assert model(fields) == paths
    assert all(sets.has_path(fields, path) for path in paths)
    assert not sets.has_path(fields, ())
    assert not sets.has_path(fields, ("f:none",))


@given(SETS, SETS)
def test_algebra(one: frozenset[Path], other: frozenset[Path]) -> None:
    ours, theirs = sets.make_set(*one), sets.make_set(*other)
    before = serializer.encode_json(ours), serializer.encode_json(theirs)
    for found, wanted in (
        (sets.unite_sets(ours, theirs), one | other),
        (sets.intersect_sets(ours, theirs), one & other),
        (sets.subtract_set(ours, theirs), one - other),
        (
            sets.subtract_below(ours, theirs),
            frozenset(p for p in one if not any(p[:size] in other for size in range(1, len(p) + 1))),
        ),
    ):
        assert sound(found)
        assert model(found) == wanted
    assert sets.contains_set(ours, theirs) == (other <= one)
    assert (serializer.encode_json(ours), serializer.encode_json(theirs)) == before
    assert sets.LEAF == {}


@given(SETS)
def test_the_written_form_is_read_back(paths: frozenset[Path]) -> None:
    fields = sets.make_set(*paths)
    written = sets.order_set(fields)
    assert written == fields
    assert sets.parse_set(serializer.decode_json(serializer.encode_json(written))) == fields


def test_elements_are_written_in_a_real_servers_order() -> None:
    names = ["i:2", "i:10", 'v:"a"', "v:true", "v:2", "v:10", 'k:{"b":1}', 'k:{"a":2}', "f:b", "f:a"]
    fields = sets.order_set(sets.make_set(*((name,) for name in names), ("f:a", "f:x")))
    wanted = ["f:a", "f:b", 'k:{"a":2}', 'k:{"b":1}', "v:2", "v:10", 'v:"a"', "v:true", "i:2", "i:10"]
    assert list(fields) == wanted
    assert serializer.encode_json(fields["f:a"]) == b'{".":{},"f:x":{}}'


def test_what_clients_send_comes_into_one_form() -> None:
    raw = {"f:a": {".": {}}, 'k:{"b":1, "a":1.0}': {"f:x": None}, "x:future": {}, "f:b": {"x:future": {}}}
    assert sets.parse_set(raw) == {"f:a": {}, 'k:{"a":1,"b":1}': {"f:x": {}}, "f:b": {}}
    assert sets.parse_set(None) == {}


@pytest.mark.parametrize("raw", ["text", [], {"f:a": 1}, {"": {}}, {"f": {}}, {"k:[1]": {}}, {"v:{": {}}, {"i:x": {}}])
def test_what_is_no_set_is_refused(raw: object) -> None:
    with pytest.raises(ValueError):
        sets.parse_set(raw)


def test_keys_are_escaped_as_go_escapes_html() -> None:
    assert sets.make_key_element({"name": "<a&b>"}) == 'k:{"name":"\\u003ca\\u0026b\\u003e"}'
    assert sets.parse_element(sets.make_value_element("<")) == 'v:"\\u003c"'


def test_paths_are_shown_as_in_conflicts() -> None:
    path = ("f:spec", "f:ports", 'k:{"name":"http","port":80}', "f:x", 'v:"a"', "v:1.5", "v:null", "i:3")
    assert sets.format_element_path(path) == '.spec.ports[name="http",port=80].x[="a"][=1.5][=null][3]'
