"""JSONPath of columns."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podless.meta import jsonpath
from tests import cost

ITEMS = [
    {"name": "one", "port": 80, "on": True, "tags": ["x", "y"]},
    {"name": "two", "port": 443, "on": False, "tags": []},
    {"name": "three", "port": 8080, "ratio": 1.5},
]
OBJECT = {
    "metadata": {"labels": {"app.example.com/name": "dotted", "plain": "p"}},
    "spec": {"items": ITEMS, "with-dash": "d", "deep": {"inner": {"x": 1}}, "nothing": None, "text": "ab", "n": 1.5},
    "conditions": [{"type": "Synced", "status": "False"}, {"type": "Ready", "status": "True"}],
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (".spec.with-dash", ["d"]),
        (".spec.nothing", [None]),
        (".spec.nothing.x", []),
        (".spec.none.x", []),
        (".spec.text.x", []),
        (r".metadata.labels.app\.example\.com/name", ["dotted"]),
        (".metadata.labels['plain']", ["p"]),
        (r".metadata.labels['app\.example\.com/name']", ["dotted"]),
        (".spec['deep.inner'].x", [1]),
        (".spec.items[0].name", ["one"]),
        (".spec.items[-1].name", ["three"]),
        (".spec.items[-4].name", []),
        (".spec.items[7].name", []),
        (".spec.items[].name", ["one"]),
        (".spec.items[1:3].name", ["two", "three"]),
        (".spec.items[1:].name", ["two", "three"]),
        (".spec.items[:-1].name", ["one", "two"]),
        (".spec.items[-2:].name", ["two", "three"]),
        (".spec.items[0:3:2].name", ["one", "three"]),
        (".spec.items[::2].name", ["one", "three"]),
        (".spec.items[1:1].name", []),
        (".spec.items[2:1].name", []),
        (".spec.items[0:9].name", []),
        (".spec.items[0:2:0].name", []),
        (".spec.items[*].name", ["one", "two", "three"]),
        (".spec.items[0,2].name", ["one", "three"]),
        (".spec.items[0, -1].name", ["one", "three"]),
        (".spec.deep[0]", []),
        (".spec.nothing[0]", []),
        (".spec.deep.*", [{"x": 1}]),
        (".spec.items[0].tags.*", ["x", "y"]),
        ("..inner", [{"x": 1}]),
        ("..port", [80, 443, 8080]),
        (".spec..x", [1]),
        ('.conditions[?(@.type=="Ready")].status', ["True"]),
        (".conditions[?(@.type == 'Ready')].status", ["True"]),
        ('.conditions[?(@.type!="Ready")].status', ["False"]),
        ('.conditions[?(@.type=="Gone")].status', []),
        ('.conditions[?("Ready"==@.type)].status', ["True"]),
        (r'.conditions[?(@.type=="\x52eady")].status', ["True"]),
        (".spec.items[?(@.port>100)].name", ["two", "three"]),
        (".spec.items[?(@.port>=443)].name", ["two", "three"]),
        (".spec.items[?(@.port<443)].name", ["one"]),
        (".spec.items[?(@.port<=443)].name", ["one", "two"]),
        (".spec.items[?(@.port>100.5)].name", []),
        (".spec.items[?(@.ratio>1)].name", []),
        (".spec.items[?(@.ratio>1.0)].name", ["three"]),
        (".spec.items[?(@.on)].name", ["one", "two"]),
        (".spec.items[?(@.on==true)].name", ["one"]),
        (".spec.items[?(@.on>false)].name", []),
        (".spec.items[?(@.tags[0])].name", ["one", "two"]),
        (".spec.items[?(@.port=80)].name", []),
        (".spec.deep[?(@.x)]", []),
        (".spec.deep true", [True]),
        (".spec word", []),
        ("$.spec.n", [1.5]),
    ],
)
def test_what_a_path_leads_to(path: str, found: list[Any]) -> None:
    compiled = jsonpath.parse_path(path)
    assert compiled.find(OBJECT) == found
    assert compiled.first(OBJECT, "none") == (found[0] if found else "none")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (".a[", "unterminated array"),
        (".a[x]", "invalid array index x"),
        ('.a["b"]', 'invalid array index "b"'),
        (".a[-]", "array index - is not a number"),
        (".a[99999999999999999999]", "array index 99999999999999999999 is not a number"),
        (".a[?(@.b]", "unterminated filter"),
        (".a[?(@.b)", "unclosed array expect ]"),
        (".a[?(@.b==+)]", "cannot parse number +"),
        ("....a", "invalid multiple recursive descent"),
        (".a\\", "unclosed action"),
        (".a\n", "unclosed action"),
        ("(a)", "unrecognized character in action: U+0028 '('"),
        (".a 'b", "unterminated quoted string"),
        (r".a '\q'", r"unquote string '\q' error invalid syntax"),
    ],
)
def test_malformed_paths(path: str, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        jsonpath.parse_path(path)
    assert str(caught.value) == message


@given(
    st.text(".[]?()@'\"*:,-01abspecitems=<>!{}\\ $", max_size=16).map(lambda text: f".{text}"),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text("abc", max_size=3),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "spec"]), inner, max_size=3)
        ),
    ),
)
def test_hostile_paths_raise_only_value_errors(path: str, obj: Any) -> None:
    try:
        compiled = jsonpath.parse_path(path)
    except ValueError:
        return
    compiled.find(obj)


@pytest.mark.slow
def test_values_do_not_multiply_without_end() -> None:
    deep: Any = 1
    for _ in range(40):
        deep = [deep, deep]
    assert (
        jsonpath.parse_path(".a" + "[0,1]" * 10).find({"a": deep})
        == [jsonpath.parse_path(".a" + "[0]" * 10).first({"a": deep})] * 1024
    )
    assert jsonpath.parse_path(".a" + "[0,1]" * 40).find({"a": deep}) == []
    assert jsonpath.parse_path(".a[*]").find({"a": [0] * 300_000}) == [0] * 300_000


def test_paths_are_compiled_once() -> None:
    assert jsonpath.parse_path(".spec.once") is jsonpath.parse_path(".spec.once")


@given(st.recursive(st.none() | st.integers(), lambda inner: st.dictionaries(st.sampled_from("ab"), inner)))
def test_a_path_of_names_finds_what_its_steps_find(obj: Any) -> None:
    assert jsonpath.parse_path(".a.b").find(obj) == jsonpath.parse_path("['a']['b']").find(obj)


DEEP = {"spec": {"l": [{"a": place, "b": [{"c": place}]} for place in range(2000)]}}


@pytest.mark.parametrize(
    "text", ["..a", "..c", "..b[0]", "..b[*].c", "..missing", "..[0]", "..l[?(@.a==3)].b", ".spec.l[1].a"]
)
def test_what_several_paths_look_through_together_is_what_each_finds(text: str) -> None:
    searched = jsonpath.Searched(DEEP)
    path = jsonpath.parse_path(text)
    jsonpath.parse_path("..a").find(searched)
    assert path.find(searched) == path.find(DEEP)
    assert path.find(searched) == path.find(searched)


def test_an_object_is_looked_through_once_for_many_paths() -> None:
    def find(count: int) -> None:
        searched = jsonpath.Searched(DEEP)
        for place in range(count):
            jsonpath.parse_path(f"..missing{place}").find(searched)

    one, many = cost.lines(find, 1), cost.lines(find, 60)
    assert many < one * 1.5


def test_a_search_is_charged_as_it_goes() -> None:
    cost.assert_linear(
        jsonpath.parse_path("..a").find, lambda size: {"l": [{"a": [place]} for place in range(size)]}, 1000
    )
