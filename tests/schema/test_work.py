"""What a definition and an object cost: in proportion to what is sent and to what comes of it, and charged."""

from __future__ import annotations

import copy
import gc
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from podless.cel.correlation import equal_json
from podless.codec import goregexp
from podless.meta import field
from podless.meta.errors import TooLarge
from podless.runtime.jsonobject import Object
from podless.schema import Schema, check, defaulting, regex, structural
from podless.schema import compile as compiling
from podless.schema.definition import estimate_compile_cost, walk_nodes
from podless.schema.enums import Enum
from podless.schema.node import Node
from podless.schema.numbers import truncate_float
from tests.cost import lines, stretch


def rooted(part: Object) -> Object:
    return {"type": "object", "properties": {"l": part}}


def items(part: Object) -> Object:
    return rooted({"type": "array", "items": part})


def nested(levels: int) -> Object:
    node: Object = {"type": "object", "properties": {"x": {"type": "integer", "default": 0}}}
    for _ in range(levels):
        node = {"type": "object", "properties": {"l": {"type": "array", "default": [{}] * 12, "items": node}}}
    return rooted({**node, "default": {}})


def fields(count: int, **more: Any) -> Object:
    return {"type": "object", "properties": {f"f{place}": {"type": "string", **more} for place in range(count)}}


@pytest.fixture
def sources(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts of all functions that are compiled."""
    found: list[str] = []

    def spy(text: str, *more: Any) -> Any:
        found.append(text)
        return compile(text, *more)

    monkeypatch.setattr(compiling, "compile", spy, raising=False)
    return found


def test_defaults_within_defaults_are_not_written_into_code(sources: list[str]) -> None:
    Schema(nested(6)).complete()
    assert max(map(len, sources)) < 10_000


def test_more_defaults_than_a_body_may_have_are_refused() -> None:
    obj: Object = {}
    with pytest.raises(
        TooLarge, match=f"default values of the object's fields have more than {defaulting.MAX_DEFAULT_BYTES} bytes"
    ):
        Schema(nested(7)).normalize(obj)
    with pytest.raises(TooLarge):
        Schema(items({"type": "object", "properties": {"t": {"type": "string", "default": "x" * 9999}}})).normalize(
            {"l": [{} for _ in range(1000)]}
        )


@pytest.mark.parametrize("walk", [Schema.normalize, Schema.default, Schema.fill])
def test_defaults_are_the_same_however_deep_and_whichever_walk(walk: Callable[[Schema, Any], None]) -> None:
    obj: Object = {}
    walk(Schema(nested(3)), obj)
    below = {"l": [{"l": [{"l": [{"x": 0}] * 12}] * 12}] * 12}
    assert obj == {"l": below}


def test_fields_that_an_object_has_are_no_defaults_of_it() -> None:
    text = "x" * 100
    schema = Schema(items({"type": "object", "properties": {"t": {"type": "string", "default": text}}}))
    obj = {"l": [{"t": ""} for _ in range(defaulting.MAX_DEFAULT_BYTES // len(text))]}
    schema.normalize(obj)
    assert obj["l"] == [{"t": ""}] * len(obj["l"])


def test_two_objects_do_not_share_what_they_were_given() -> None:
    schema = Schema(nested(4))
    one: Object = {}
    other: Object = {}
    schema.normalize(one)
    one["l"]["l"][0]["l"].clear()
    schema.normalize(other)
    assert len(other["l"]["l"][0]["l"]) == 12


def test_of_a_wide_object_only_the_fields_that_are_there_are_compiled(sources: list[str]) -> None:
    properties = {f"f{place}": {"type": "string", "maxLength": place} for place in range(5000)}
    schema = Schema(rooted({"type": "object", "properties": properties}))
    schema.normalize({"l": {"f1": "a"}})
    assert schema.validate({"l": {"f1": "a", "f2": "b"}}) == []
    assert len(sources) < 10


def full(width: int, depth: int) -> tuple[Object, Any]:
    """A schema of so many fields at each level, and an object that has them all."""
    if not depth:
        return {"type": "string", "maxLength": 3, "default": "a"}, "b"
    below, value = full(width, depth - 1)
    names = [f"f{place}" for place in range(width)]
    return {"type": "object", "properties": dict.fromkeys(names, below)}, dict.fromkeys(names, value)


def test_no_function_is_long(sources: list[str]) -> None:
    for width, depth in ((12, 3), (6, 4), (1100, 1)):
        part, value = full(width, depth)
        schema = Schema(rooted(part | ({"required": [f"r{place}" for place in range(1200)]} if depth == 1 else {})))
        schema.normalize({"l": value})
        schema.validate({"l": value})
    branches = [{"minLength": place} for place in range(1200)]
    for keyword in ("oneOf", "anyOf", "allOf"):
        Schema(rooted({"type": "string", keyword: branches})).validate({"l": ""})
    assert max(text.count("\n") for text in sources) < 1000


ENTRIES: list[Any] = [
    *(0, 1, -1, 2, 97, 1.0, 0.5, -0.0, 1e300, True, False, "a", "b", "1", "", None),
    *([], [1], [1.0], [True], [0.0], [-0.0], {}, {"a": 1}, {"a": 1.0}, {"a": -0.0}, {"a": 0.0}, {"a": [{}, None]}),
    *({"b": "-0.0"}, {"b": "0.0"}, {"a": 1, "b": 2}, {"b": 2, "a": 1}, ["\ud800"], ["\ud801"]),
]


def equals_entry(value: Any, allowed: Any) -> bool:
    """Whether a value equals an enum entry after Go's conversion to the entry's type."""
    if isinstance(allowed, bool) or isinstance(value, bool):
        return value is allowed
    if isinstance(allowed, str):
        if isinstance(value, int):
            # an integer converts to the character with its number
            return 0 <= value < 0x110000 and not 0xD800 <= value < 0xE000 and chr(value) == allowed
        return isinstance(value, str) and value == allowed
    if isinstance(allowed, int):
        if isinstance(value, float):
            return truncate_float(value) == allowed
        return isinstance(value, int) and value == allowed
    if isinstance(allowed, float):
        return isinstance(value, int | float) and float(value) == allowed
    return allowed is not None and equal_json(value, allowed)


def test_an_enum_allows_what_equals_an_entry_after_go_converted_it() -> None:
    several = [entry for entry in ENTRIES if entry.__class__ in (dict, list)]
    for allowed in (*([entry] for entry in ENTRIES), several, several[::2], ENTRIES[::3], [1.5, "a", 3]):
        enum = Enum(allowed)
        for value in ENTRIES:
            assert enum.allows(value) == (value is not None and any(equals_entry(value, entry) for entry in allowed))


@pytest.mark.parametrize(
    ("kind", "entry"),
    [
        ({"type": "integer"}, lambda place: place),
        ({"type": "object", "x-kubernetes-preserve-unknown-fields": True}, lambda place: {"a": place}),
        ({"type": "object", "x-kubernetes-preserve-unknown-fields": True}, lambda place: {"a": "-0.0" * place}),
    ],
    ids=["numbers", "objects", "zeros"],
)
@pytest.mark.parametrize("wrong", [False, True])
def test_entries_times_items_are_not_compared(kind: Object, entry: Callable[[int], Any], wrong: bool) -> None:
    def cost(size: int) -> int:
        schema = Schema(items(kind | {"enum": [entry(place) for place in range(size)]}))
        value = [entry(place + (size if wrong else 0)) for place in range(size)]
        return lines(lambda given: schema.validate(given), {"l": value})

    assert cost(400) < 2.3 * cost(200)


def test_errors_share_the_text_that_lists_an_enum_and_are_no_more_than_a_client_is_told_of() -> None:
    schema = Schema(items({"type": "integer", "enum": list(range(5000))}))
    errors = schema.validate({"l": [-1 - place for place in range(4000)]})
    assert len({id(error.detail) for error in errors}) == 1
    assert field.summarize_errors(errors)[0] != errors
    assert len(errors) < 400
    assert errors[0].detail.startswith('supported values: "0", "1", "2"')


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
def test_only_the_errors_of_the_best_alternative_are_written(keyword: str) -> None:
    branches = [{"pattern": f"^a{place}$"} for place in range(30)] + [{"maxLength": 9, "pattern": "^b"}]
    node = Node({"type": "array", "items": {"type": "string", keyword: branches}})
    look = field.FoundErrors()
    with look:
        errors = check.validate_value(["x", "y"], node)
    assert look.errors == errors
    assert len(errors) == 4


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
def test_alternatives_within_alternatives_cost_what_they_are(keyword: str) -> None:
    def cost(levels: int) -> int:
        part: Object = {"pattern": "^z"}
        for _ in range(levels):
            part = {keyword: [{"minLength": 9}, part, {"minLength": 8}]}
        schema = Schema(rooted({"type": "string", **part}))
        schema.validate({"l": "x"})
        return lines(lambda given: schema.validate(given), {"l": "x"})

    assert cost(60) < 2.2 * cost(30)


def test_a_definition_is_written_without_compiling_its_patterns(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(pattern: str, cost: float) -> Any:
        raise AssertionError(pattern)

    monkeypatch.setattr(regex, "_compile_sized", refuse)
    properties = {f"f{place}": {"type": "string", "pattern": rf"^\pL{{1,30}}x{place}"} for place in range(20)}
    assert structural({"type": "object", "properties": properties}, "s") == []


def test_the_patterns_of_a_definition_are_priced_together() -> None:
    properties = {f"f{place}": {"type": "string", "pattern": rf"\pL{{1,60}}x{place}"} for place in range(60)}
    [error] = structural({"type": "object", "properties": properties}, "s")
    assert str(error).startswith('s: Invalid value: "": patterns are too large together: ')


def test_patterns_in_a_default_are_not_compiled_and_have_no_price() -> None:
    values = [{"pattern": rf"\pL{{1,60}}x{place}"} for place in range(60)]
    free = {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "default": {"values": values}}
    schema = {"type": "object", "properties": {"free": free, "text": {"type": "string", "pattern": "^a"}}}
    assert structural(schema, "s") == []
    assert estimate_compile_cost(walk_nodes(schema)) == estimate_compile_cost([{"pattern": "^a"}])


PATTERNS = [
    (r"^\pL{1,100}$", ["a", "a" * 100, "a" * 101, "", "1", "é" * 100, "a\n"]),
    (r"^x[\pL\pN]{2,90}\d$", ["xab1", "xa1", "x" + "é" * 90 + "1", "x" + "é" * 91 + "1", "xab", "yab1"]),
    (r"^\pL{70}$", ["a" * 70, "a" * 69, "a" * 71]),
    (r"^\pL{60,}$", ["a" * 59, "a" * 60, "a" * 600]),
    (r"\pL{1,60}$", ["1a", "a1", "1\na", "a\n"]),
    (r"(?i)\pL{1,60}B|^q", ["xxb", "q", "aq", "1B"]),
    (r"\pL{1,60}\Q.b", ["a.b", "a.c", "axb"]),
    (r"[\pL^]{0,60}(?m:^b$)", ["a\nb", "ab", "b\n"]),
]


@pytest.mark.parametrize(("pattern", "texts"), PATTERNS, ids=[pattern for pattern, _ in PATTERNS])
def test_a_dear_pattern_finds_what_it_finds_as_it_is(pattern: str, texts: list[str]) -> None:
    plain = goregexp.make_searcher(goregexp.parse_pattern(pattern, goregexp.make_options(64 << 20, captures=False)))
    assert [regex.make_matcher(pattern).run(text) for text in texts] == [plain(text) for text in texts]


def test_a_pattern_that_was_dropped_is_compiled_again() -> None:
    pattern = regex.make_matcher("^ab{2}$")
    assert pattern.run("abb")
    pattern.drop_value()
    assert pattern.run("abb")
    assert not pattern.run("ab")


def attacks() -> Iterator[tuple[str, Object, Any]]:
    """Name, schema, object."""
    yield "defaults", rooted(fields(1500, default="a")), {"l": {}}
    yield "properties", rooted(fields(1500)), {"l": {f"f{place}": "a" for place in range(1500)}}
    yield "nested defaults", nested(3), {}
    given = {"type": "object", "default": {}, "properties": {"a": {"type": "integer", "default": 1}}}
    yield "default objects", rooted({"type": "object", "properties": {f"f{i}": given for i in range(700)}}), {"l": {}}
    branches = [{"pattern": f"^a{place}$"} for place in range(300)]
    for keyword in ("anyOf", "oneOf", "allOf"):
        yield keyword, items({"type": "string", keyword: branches}), {"l": ["x", "a5", "a299"]}
    yield "not", items({"type": "string", "not": {"anyOf": branches}}), {"l": ["x", "a5", "a299"]}
    part: Object = {"pattern": "^z"}
    for _ in range(40):
        part = {"anyOf": [{"minLength": 9}, part]}
    yield "deep", items({"type": "string", **part}), {"l": ["x"] * 50}
    yield "enum", items({"type": "integer", "enum": list(range(1500))}), {"l": [-1] * 50}
    yield "required", items({"type": "object", "required": [f"r{place}" for place in range(1500)]}), {"l": [{}] * 9}
    lists: Object = {"type": "integer", "minimum": 0}
    value: Any = 1
    for _ in range(4):
        lists, value = {"type": "array", "items": lists}, [value] * 8
    yield "lists", rooted(lists), {"l": value}


ATTACKS = {name: (schema, obj) for name, schema, obj in attacks()}


@pytest.mark.parametrize("name", ATTACKS)
def test_no_more_than_a_millisecond_of_lines_is_executed_between_two_charges(name: str) -> None:
    openapi, obj = ATTACKS[name]
    schema, empty = Schema(openapi), copy.deepcopy(obj)

    def work() -> None:
        structural(openapi, "s")
        schema.fill(empty)
        for _ in range(2):
            schema.normalize(obj)
            schema.validate(obj)
        Schema(openapi).complete()

    assert stretch(work) < 15_000


@pytest.mark.parametrize("name", ATTACKS)
def test_validation_leaves_nothing_to_the_garbage_collector(name: str) -> None:
    openapi, obj = ATTACKS[name]
    schema = Schema(openapi)
    schema.validate(obj)  # compiles
    gc.collect()
    gc.disable()  # as during long work
    try:
        schema.validate(obj)
        assert gc.collect() < 50
    finally:
        gc.enable()
