"""Paths to fields, as tuples and as errors write them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from podless.meta import errors, field
from podless.meta.field import Key
from podless.schema import Schema

NAMES = st.text("abcXYZ-_09", min_size=1, max_size=5)
PARTS = NAMES | st.integers(0, 99) | st.builds(Key, st.text("ab.-/", min_size=1))
PATHS = st.tuples(NAMES, st.lists(PARTS, max_size=5))


@given(PATHS)
def test_a_path_is_found_again_in_its_text(given_path: tuple[str, list[str | int]]) -> None:
    path = (given_path[0], *given_path[1])
    assert field.parse_path(field.format_path(path)) == path
    assert field.required(path).path == field.required(field.format_path(path)).path == path


def test_errors_of_values_say_where_by_path_and_by_text() -> None:
    inner = {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "integer"}}}}
    schema = Schema.compile({"type": "object", "properties": {"m": {"type": "object", "additionalProperties": inner}}})
    [error] = schema.validate({"m": {"x.y": {"a": [1, "b"]}}})
    assert error.path == ("m", "x.y", "a", 1)
    assert error.field == "m.x.y.a[1]"
    pod = {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True}
    schema = Schema.compile({"type": "object", "properties": {"m": {"type": "object", "additionalProperties": pod}}})
    [error] = schema.validate({"m": {"x.y": {"kind": "K", "apiVersion": ""}}})
    assert error.path == ("m", Key("x.y"), "apiVersion")
    assert error.field == "m[x.y].apiVersion"


def test_of_very_many_errors_and_very_long_ones_the_first_are_told() -> None:
    many = [field.required(f"spec.f{number}") for number in range(20_000)]
    kept, text, causes = field.summarize_errors(many)
    assert len(kept) == len(causes) == text.count("Required value") == field.MAX
    long = [field.invalid(f"spec.f{number}", "x" * (1 << 20), "wrong") for number in range(50)]
    assert len(field.summarize_errors(long)[0]) == 4
    refusal = errors.Invalid("Kind", "group", "name", many)
    assert refusal.errors == kept
