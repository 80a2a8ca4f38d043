"""Files fall apart into the documents that kubectl sees."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from podless.codec.documents import split_documents


def texts(raw: str) -> list[tuple[int, str]]:
    return [(document.line, document.raw.decode()) for document in split_documents("a", raw.encode())]


def test_marks_part_yaml() -> None:
    assert texts("a: 1\n---\nb: 2\n") == [(0, "a: 1\n"), (1, "---\nb: 2\n")]
    assert texts("---\na: 1\n--- # said\nb: 2\n---\n") == [(0, "---\na: 1\n"), (2, "--- # said\nb: 2\n")]
    assert texts("a: |\n  ---\n  b\n----\n") == [(0, "a: |\n  ---\n  b\n----\n")]
    assert texts("--- {a: 1}\n") == [(0, "--- {a: 1}\n")]
    assert texts("- a\n---\n[b]") == [(0, "- a\n"), (1, "---\n[b]")]


def test_what_has_nothing_in_it_is_no_document() -> None:
    assert texts("") == texts("# comment\n---\n\n---\n# more\n...\n") == texts("%YAML 1.1\n---\n") == []


def test_json_texts_follow_each_other() -> None:
    assert texts('{"a": 1}\n\n {"b":\n2}{"c": 3}') == [(0, '{"a": 1}'), (2, '{"b":\n2}'), (3, '{"c": 3}')]


def test_json_that_cannot_be_read_is_one_document_with_the_rest() -> None:
    assert texts('{"a": 1}\n{"b"\n{}') == [(0, '{"a": 1}'), (1, '{"b"\n{}')]


@given(st.lists(st.dictionaries(st.text(), st.text(), min_size=1), min_size=1))
def test_no_json_is_lost(values: list[dict[str, str]]) -> None:
    raw = "\n".join(json.dumps(value) for value in values)
    assert [json.loads(document.raw) for document in split_documents("a", raw.encode())] == values


@given(st.binary())
def test_any_bytes_are_taken(raw: bytes) -> None:
    found = b"".join(document.raw for document in split_documents("a", raw))
    assert len(found) <= len(raw)
