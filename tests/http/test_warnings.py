"""Warning headers."""

from __future__ import annotations

from podless.http.status import warning_headers


def test_a_text_is_told_once_and_quoted() -> None:
    assert warning_headers(["a", 'say "b"', "a", ""]) == [("Warning", '299 - "a"'), ("Warning", '299 - "say \\"b\\""')]


def test_a_text_cannot_end_its_header() -> None:
    assert not warning_headers(["a\r\nSet-Cookie: b", "\x7f", "\x80", "\ud800"])


def test_too_much_text_is_cut() -> None:
    assert warning_headers(["x" * 4096])[0][1] == f'299 - "{"x" * 4096}"'
    cut = warning_headers([str(number).zfill(300) for number in range(100)])
    assert len(cut) == 16
    assert {len(value) for _, value in cut} == {256 + len('299 - ""')}


def test_the_text_that_is_too_much_is_told_and_short_ones_are_many() -> None:
    # all that came before fit to the letter: the next one makes all be told anew, itself included
    texts = [f"{number:04}" * 4 for number in range(256)]
    assert len(warning_headers(texts)) == 256
    assert len(warning_headers([*texts, "one more", "nothing more"])) == 257


def test_what_stands_behind_all_that_is_told_is_not_looked_at() -> None:
    texts = iter([f"unknown field {number}" for number in range(100_000)])
    assert len(warning_headers(texts)) < 1000
    assert sum(1 for _ in texts) > 99_000
