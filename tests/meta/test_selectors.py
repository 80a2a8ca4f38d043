"""Label and field selectors."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podless.meta import selectors
from podless.meta.errors import BadRequest
from podless.meta.selectors import FieldSelector, LabelSelector, Requirement
from tests import cost

KEYS = st.sampled_from(["a", "b", "B9", "a.b/c-d", "x_y", "e.io/in"])
LABELS = st.sampled_from(["", "x", "y-1", "A.b", "in", "notin", "9"])


def requirement(operator: str) -> st.SearchStrategy[Requirement]:
    values: st.SearchStrategy[list[str]] = st.lists(LABELS, min_size=1, max_size=1)
    if operator in ("in", "notin"):
        values = st.lists(LABELS, min_size=1, max_size=3, unique=True)
    elif operator in ("exists", "!"):
        values = st.just([])
    elif operator in ("gt", "lt"):
        values = st.lists(st.integers(0, 99).map(str), min_size=1, max_size=1)
    return st.builds(lambda key, found: Requirement(key, operator, tuple(sorted(found))), KEYS, values)


REQUIREMENTS = st.lists(
    st.sampled_from(["=", "==", "!=", "in", "notin", "exists", "!", "gt", "lt"]).flatmap(requirement), max_size=4
)

FRONT = {"env": "prod", "tier": "front", "n": "5"}
BACK = {"env": "dev", "tier": "back", "n": "10"}
BARE = {"env": "prod"}
NONE: dict[str, str] = {}


@pytest.mark.parametrize(
    ("text", "selected"),
    [
        ("", [FRONT, BACK, BARE, NONE]),
        ("env=prod", [FRONT, BARE]),
        ("env==prod", [FRONT, BARE]),
        ("env!=prod", [BACK, NONE]),
        ("env=", []),
        ("env!=", [FRONT, BACK, BARE, NONE]),
        ("env in (prod,dev)", [FRONT, BACK, BARE]),
        ("env in ()", []),
        ("env notin (prod)", [BACK, NONE]),
        ("tier", [FRONT, BACK]),
        ("!tier", [BARE, NONE]),
        ("env=prod,!tier", [BARE]),
        ("n>5", [BACK]),
        ("n<10", [FRONT]),
        (" env in ( prod ) , tier notin (front) ", [BARE]),
        ("in in (in)", []),
    ],
)
def test_what_labels_are_selected(text: str, selected: list[dict[str, str]]) -> None:
    selector = selectors.parse_labels(text)
    assert [labels for labels in (FRONT, BACK, BARE, NONE) if selector.matches(labels)] == selected
    assert selector.empty == (not text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("env=prod=x", "found '=', expected: ',' or 'end of string'"),
        ("env in prod", "unable to parse requirement: found 'prod' expected: '('"),
        ("a in", "unable to parse requirement: found '' expected: '('"),
        ("env in (", "unable to parse requirement: found '', expected: ',', ')' or identifier"),
        ("env in (a", "unable to parse requirement: found '', expected: ',' or ')'"),
        ("env in (a b)", "unable to parse requirement: found 'b', expected: ',' or ')'"),
        ("env in (,", "unable to parse requirement: found '', expected: ',', or identifier"),
        ("a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"),
        ("=x", "found '=', expected: !, identifier, or 'end of string'"),
        ("env=val ue", "found 'ue', expected: ',' or 'end of string'"),
        ("a,", "found '', expected: identifier after ','"),
        ("!", "unable to parse requirement: found '', expected: identifier"),
        ("!a=b", "found '=', expected: ',' or 'end of string'"),
        ("a=!b", "unable to parse requirement: found '!', expected: identifier"),
        (
            "n>x",
            'unable to parse requirement: values[0]: Invalid value: "x": '
            "for 'Gt', 'Lt' operators, the value must be an integer",
        ),
        (
            "n>99999999999999999999",
            'unable to parse requirement: values[0]: Invalid value: "99999999999999999999": '
            "for 'Gt', 'Lt' operators, the value must be an integer",
        ),
    ],
)
def test_what_is_said_of_bad_label_selectors(text: str, message: str) -> None:
    with pytest.raises(BadRequest) as caught:
        selectors.parse_labels(text)
    assert caught.value.message == message


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("-bad=x", 'unable to parse requirement: <nil>: Invalid value: "-bad": name part must consist of'),
        (
            "x" * 64 + "=1",
            f'unable to parse requirement: <nil>: Invalid value: "{"x" * 64}": name part must be no more than 63 bytes',
        ),
        ("/a", 'unable to parse requirement: <nil>: Invalid value: "/a": prefix part must be non-empty'),
        ("env=%$", 'unable to parse requirement: values[0][env]: Invalid value: "%$": a valid label must be'),
        ("n>%", "unable to parse requirement: [values[0]: Invalid value: \"%\": for 'Gt', 'Lt' operators"),
    ],
)
def test_keys_and_values_are_checked(text: str, start: str) -> None:
    with pytest.raises(BadRequest) as caught:
        selectors.parse_labels(text)
    assert caught.value.message.startswith(start)


def test_label_selector_objects() -> None:
    chosen = selectors.from_object(
        {"matchLabels": {"env": "prod"}, "matchExpressions": [{"key": "tier", "operator": "DoesNotExist"}]}
    )
    assert str(chosen) == "env=prod,!tier"
    assert chosen.matches(BARE)
    assert not chosen.matches(FRONT)
    assert selectors.from_object({}).matches(NONE)
    assert not selectors.from_object(None).matches(NONE)
    assert not selectors.from_object(None).empty


@pytest.mark.parametrize(
    ("selector", "message"),
    [
        ({"matchExpressions": [{"key": "a", "operator": "Gt"}]}, '"Gt" is not a valid label selector operator'),
        (
            {"matchExpressions": [{"key": "a", "operator": "In"}]},
            "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty",
        ),
        (
            {"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["b"]}]},
            'values: Invalid value: ["b"]: values set must be empty for exists and does not exist',
        ),
    ],
)
def test_bad_label_selector_objects(selector: dict[str, Any], message: str) -> None:
    with pytest.raises(BadRequest) as caught:
        selectors.from_object(selector)
    assert caught.value.message == message


@given(REQUIREMENTS)
def test_label_selectors_parse_as_they_print(requirements: list[Requirement]) -> None:
    wanted = tuple(sorted(requirements, key=lambda requirement: requirement.key))
    parsed = selectors.parse_labels(",".join(map(str, wanted)))
    assert parsed.requirements == wanted


@given(st.text("ab=!(),<> \x00in-.", max_size=15))
def test_hostile_selectors_raise_only_bad_request(text: str) -> None:
    for parse in (selectors.parse_labels, selectors.parse_fields):
        try:
            parse(text)
        except BadRequest:
            continue


@pytest.mark.parametrize(
    ("text", "requirements"),
    [
        ("", ()),
        ("a=b", (("a", "=", "b"),)),
        ("c!=d,a==b,", (("a", "=", "b"), ("c", "!=", "d"))),
        ("a=", (("a", "=", ""),)),
        (r"a=b\,c\=d\\", (("a", "=", "b,c=d\\"),)),
        ("=,a=b,!=", (("a", "=", "b"),)),
        ("=b", (("", "=", "b"),)),
    ],
)
def test_field_selectors(text: str, requirements: Any) -> None:
    assert selectors.parse_fields(text).requirements == requirements


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a", "invalid selector: 'a'; can't understand 'a'"),
        ("a=b,c", "invalid selector: 'a=b,c'; can't understand 'c'"),
        ("a=b=c", "invalid field selector: unescaped character in value: 61"),
        (r"a=\x", r"invalid field selector: invalid escape sequence: \x"),
        ("a=\\", "invalid field selector: invalid escape sequence: \\"),
    ],
)
def test_what_is_said_of_bad_field_selectors(text: str, message: str) -> None:
    with pytest.raises(BadRequest) as caught:
        selectors.parse_fields(text)
    assert caught.value.message == message


def test_field_selectors_select() -> None:
    selector = selectors.parse_fields("metadata.name=a,spec.color!=red")
    objects = [{"metadata.name": "a"}, {"metadata.name": "b"}, {"metadata.name": "a", "spec.color": "red"}]
    matched = [selector.matches(lambda name, obj=obj: obj.get(name, "")) for obj in objects]  # type: ignore[misc]
    assert matched == [True, False, False]
    assert selector.find_exact("metadata.name") == "a"
    assert selector.find_exact("spec.color") is None


@given(st.lists(st.tuples(KEYS, st.sampled_from(["=", "!="]), st.text(",=\\ab", max_size=5)), max_size=4))
def test_field_selectors_parse_as_they_print(requirements: list[tuple[str, str, str]]) -> None:
    selector = selectors.FieldSelector(tuple(requirements))
    assert sorted(selectors.parse_fields(str(selector)).requirements) == sorted(requirements)


def judge(need: Requirement, labels: dict[str, str]) -> bool:
    """One requirement as it reads."""
    value = labels.get(need.key)
    if need.operator in ("gt", "lt"):
        if value is None or not value.isdigit():
            return False
        return int(value) > int(need.values[0]) if need.operator == "gt" else int(value) < int(need.values[0])
    return {
        "=": value in need.values,
        "==": value in need.values,
        "in": value in need.values,
        "!=": value not in need.values,
        "notin": value not in need.values,
        "exists": value is not None,
        "!": value is None,
    }[need.operator]


@given(REQUIREMENTS, st.dictionaries(KEYS, LABELS))
def test_a_selector_matches_what_meets_each_requirement(needs: list[Requirement], labels: dict[str, str]) -> None:
    expected = all(judge(need, labels) for need in needs)
    assert LabelSelector(tuple(needs)).matches(labels) is expected


FIELDS = st.sampled_from(["", "x", "y"])
TERMS = st.tuples(st.sampled_from(["a", "b", "c"]), st.sampled_from(["=", "!="]), FIELDS)


@given(st.lists(TERMS, max_size=5), st.dictionaries(st.sampled_from(["a", "b"]), FIELDS))
def test_a_field_selector_matches_what_meets_each_requirement(
    needs: list[tuple[str, str, str]], known: dict[str, str]
) -> None:
    expected = all((known.get(name, "") == value) == (operator == "=") for name, operator, value in needs)
    assert FieldSelector(tuple(needs)).matches(lambda name: known.get(name, "")) is expected
    exact = [value for name, operator, value in needs if (name, operator) == ("a", "=")]
    assert FieldSelector(tuple(needs)).find_exact("a") == (exact[0] if exact else None)


@pytest.mark.parametrize("text", ["!a{}", "a{}!=x", "a{} notin (x,y)", "a!=x{}"])
def test_a_match_costs_no_more_where_the_selector_is_long(text: str) -> None:
    def lines(times: int) -> int:
        found = selectors.parse_labels(",".join(text.format(number) for number in range(times)))
        found.matches(FRONT)  # makes what is kept with it
        return cost.lines(found.matches, FRONT)

    assert lines(2000) == lines(20)


@pytest.mark.parametrize("text", ["metadata.name!=x{}", "a=x{}"])
def test_a_match_of_fields_costs_no_more_where_the_selector_is_long(text: str) -> None:
    def lines(times: int) -> int:
        found = selectors.parse_fields(",".join(text.format(number) for number in range(times)))
        found.matches(lambda name: "y")
        return cost.lines(found.matches, lambda name: "y")

    assert lines(2000) == lines(20)
