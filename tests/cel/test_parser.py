"""Syntax: what is said of a faulty text, and where."""

from __future__ import annotations

import pytest

from podless.cel import CompileError, compile
from podless.cel.errors import Issue, display_issue

FIRST = (
    "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"
)
OR_OPTIONAL = FIRST.replace("'!', ", "'!', '?', ")
FAULTS = {
    "1 +": [(3, f"mismatched input '<EOF>' expecting {FIRST}")],
    "1 + * 2": [(4, f"extraneous input '*' expecting {FIRST}")],
    "1 2": [(2, "extraneous input '2' expecting <EOF>")],
    "1 2 3": [(2, "mismatched input '2' expecting <EOF>")],
    "(1": [(2, "missing ')' at '<EOF>'")],
    "size(1 2)": [(7, "extraneous input '2' expecting ')'")],
    "size(1,)": [(7, f"mismatched input ')' expecting {FIRST}")],
    "[1, 2": [(5, "mismatched input '<EOF>' expecting {']', ','}")],
    "[1 2]": [(3, "extraneous input '2' expecting {']', ','}")],
    "{'a': 1": [(7, "mismatched input '<EOF>' expecting {'}', ','}")],
    "{'a' 1}": [(5, "missing ':' at '1'")],
    "{1}": [(2, "mismatched input '}' expecting ':'")],
    "true ? 1": [(8, "mismatched input '<EOF>' expecting ':'")],
    "1.": [(2, "no viable alternative at input '.'")],
    "{}.'a'": [(3, "no viable alternative at input '.'a''")],
    "{}.true": [(3, "mismatched input 'true' expecting IDENTIFIER")],
    "1 = 1": [(2, "token recognition error at: '= '"), (4, "extraneous input '1' expecting <EOF>")],
    "'ab": [(0, "token recognition error at: ''ab'"), (3, f"mismatched input '<EOF>' expecting {FIRST}")],
    r"'\q'": [
        (0, r"token recognition error at: ''\q'"),
        (3, "token recognition error at: '''"),
        (4, f"mismatched input '<EOF>' expecting {FIRST}"),
    ],
    "a[": [(2, f"mismatched input '<EOF>' expecting {OR_OPTIONAL}")],
    # what was given up ends where a good token comes; from there on faults are told again
    "f(a 5,(1)[0])": [(4, "mismatched input '5' expecting ')'"), (12, "extraneous input ')' expecting <EOF>")],
    "f('b'x.g()) >= 1": [(5, "mismatched input 'x' expecting ')'"), (10, "mismatched input ')' expecting <EOF>")],
    # a bracket is closed where a selection follows, which may come after it
    "[a.in, b(1)].c()": [
        (3, "no viable alternative at input '.in'"),
        (5, f"extraneous input ',' expecting {FIRST}"),
        (11, "mismatched input ']' expecting <EOF>"),
    ],
    "{'': a.[}b?'c']": [
        (7, "no viable alternative at input '.['"),
        (14, "mismatched input ']' expecting ':'"),
    ],
}


def issues(source: str) -> list[tuple[int, str]]:
    with pytest.raises(CompileError) as caught:
        compile(source)
    return [(issue.offset, issue.message) for issue in caught.value.issues]


@pytest.mark.parametrize("source", FAULTS)
def test_fault(source: str) -> None:
    assert issues(source) == [(offset, f"Syntax error: {text}") for offset, text in FAULTS[source]]


def test_an_optional_field_has_a_name() -> None:
    wanted = "mismatched input '3' expecting {IDENTIFIER, ESC_IDENTIFIER}"
    assert issues("a.?3.b") == [(3, f"Syntax error: {wanted}"), (3, "unsupported ident kind")]


@pytest.mark.parametrize("word", ["if", "for", "package", "var", "while"])
def test_reserved_words_are_no_names(word: str) -> None:
    assert issues(word) == [(0, f"reserved identifier: {word}")]


@pytest.mark.parametrize(
    ("source", "offset", "text"),
    [
        ("has(1)", 4, "invalid argument to has() macro"),
        ("[1].all(1, true)", 8, "argument must be a simple name"),
        ("[1].map(1, true)", 8, "argument is not an identifier"),
        ("[1].all(i, i, true)", 11, "duplicate variable name: i"),
        ("9223372036854775808 > 0", 0, "invalid int literal"),
        ("18446744073709551616u > 0u", 0, "invalid uint literal"),
        ("1e999 > 0.0", 0, "invalid double literal"),
    ],
)
def test_misuse(source: str, offset: int, text: str) -> None:
    assert (offset, text) in issues(source)


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("-9223372036854775808", -(2**63)),
        ("0x1F", 31),
        ("1e3", 1000.0),
        (r"'\x41\u00e9\U0001F600\101\n'", "Aé😀A\n"),
        (r"r'\n'", r"\n"),
        ("'''a\n'b'\n'''", "a\n'b'\n"),
        (r"b'\xff\101é'", b"\xffA\xc3\xa9"),
        ("1 + 2 * 3 - 4 / 2 % 3", 5),
        ("- - 1", 1),
        ("!!true", True),
        ("true ? (false ? 1 : 2) : 3", 2),
        ("false || true && !false", True),
        ("// first\n 1 // last", 1),
        ("{'a': {'b': [1, 2]}}.a.b[1]", 2),
        ("[1, 2,].size()", 2),
    ],
)
def test_value(source: str, value: object) -> None:
    assert compile(source).evaluate() == value


def test_errors_show_the_line() -> None:
    text = display_issue("1 +\n\té + 'a'", Issue(7, "oops"))
    assert text == "ERROR: <input>:2:4: oops\n |  é + 'a'\n | .．.^"


@pytest.mark.parametrize("source", ["(" * 300 + "1" + ")" * 300, "[" * 1000, "1" + "+1" * 300, "true" + "?true" * 300])
def test_depth_is_limited(source: str) -> None:
    with pytest.raises(CompileError):
        compile(source)
