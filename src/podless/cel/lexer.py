"""Splits source text into tokens, and names tokens in errors.

Invalid characters are reported and skipped, as in CEL's ANTLR lexer.
"""

from __future__ import annotations

import re

from podless.cel.errors import Issue
from podless.runtime.dataclass import dataclass
from podless.runtime.lazy import compile_late
from podless.runtime.meter import charge

_HEX = "[0-9a-fA-F]"
_ESCAPE = rf"\\(?:[abfnrtv\"'\\?`]|[xX]{_HEX}{{2}}|u{_HEX}{{4}}|U{_HEX}{{8}}|[0-3][0-7][0-7])"
_TRIPLE = "|".join(f"{quote}(?s:(?:{_ESCAPE}|[^\\\\])*?){quote}" for quote in ('"""', "'''"))
_SINGLE = "|".join(rf"{quote}(?:{_ESCAPE}|[^\\{quote}\n\r])*{quote}" for quote in ('"', "'"))
_RAW_TRIPLE = r"[rR](?:\"\"\"(?s:.*?)\"\"\"|'''(?s:.*?)''')"
_RAW = r"[rR](?:\"[^\"\n\r]*\"|'[^'\n\r]*')"
_STRING = f"(?:{_RAW_TRIPLE}|{_RAW}|{_TRIPLE}|{_SINGLE})"

_TOKEN = compile_late(
    rf"""
    (?P<skip>[\t\ \r\n\f]+|//[^\n]*)
    |(?P<STRING>[bB]?{_STRING})
    |(?P<NUM_FLOAT>[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)
    |(?P<NUM_UINT>0x{_HEX}+[uU]|[0-9]+[uU])
    |(?P<NUM_INT>0x{_HEX}+|[0-9]+)
    |(?P<IDENTIFIER>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<ESC_IDENTIFIER>`[A-Za-z0-9_.\-/\ ]+`)
    |(?P<op>==|!=|<=|>=|&&|\|\||[<>\[\]{{}}().,\-!?:+*/%])
    """,
    re.VERBOSE,
)
TOKENS_PER_CHARGE = 16  # tokens that are charged together
_KEYWORDS = frozenset(("in", "true", "false", "null"))
# identifiers that an expression may not use as names
RESERVED = frozenset(
    (
        *("as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "in", "let"),
        *("loop", "namespace", "null", "package", "return", "true", "var", "void", "while"),
    )
)

# how far ANTLR reads an unterminated token before it fails
_UNTERMINATED = compile_late(
    rf"[bB]?(?:[rR](?:\"\"\"(?s:.*)|'''(?s:.*)|\"[^\"\n\r]*|'[^'\n\r]*)"
    rf"|\"\"\"(?s:(?:{_ESCAPE}|[^\\])*)|'''(?s:(?:{_ESCAPE}|[^\\])*)"
    rf"|\"(?:{_ESCAPE}|[^\\\"\n\r])*|'(?:{_ESCAPE}|[^\\'\n\r])*)"
    rf"|`[A-Za-z0-9_.\-/\ ]*|&|\||="
)
_PARTIAL_ESCAPE = compile_late(rf"\\(?:[xX]{_HEX}?|u{_HEX}{{0,3}}|U{_HEX}{{0,7}}|[0-3][0-7]?)?")
# in the order in which ANTLR lists expected tokens
_START_KINDS = ("[", "{", "(", ".", "-", "!", "true", "false", "null")
_KINDS = ("NUM_FLOAT", "NUM_INT", "NUM_UINT", "STRING", "BYTES", "IDENTIFIER")
START = frozenset((*_START_KINDS, *_KINDS))
_ORDER = {name: rank for rank, name in enumerate(
    ("==", "!=", "in", "<", "<=", ">=", ">", "&&", "||", "[", "]", "{", "}", "(", ")", ".", ",", "-", "!", "?", ":",
     "+", "*", "/", "%", "true", "false", "null", "NUM_FLOAT", "NUM_INT", "NUM_UINT", "STRING", "BYTES",
     "IDENTIFIER", "ESC_IDENTIFIER", "EOF")
)}  # fmt: skip
_NAMED = frozenset((*_KINDS, "ESC_IDENTIFIER"))


@dataclass(frozen=True, slots=True)
class Token:
    """A token. kind: its text for operators and keywords, EOF at the end, else its token class."""

    kind: str
    text: str
    offset: int


def list_tokens(source: str, issues: list[Issue]) -> list[Token]:
    """Return all tokens of a text, with EOF last. Errors are added to `issues`."""
    tokens = []
    offset, end = 0, len(source)
    match_at = _TOKEN.match
    uncharged = 0
    while offset < end:
        uncharged += 1
        if uncharged == TOKENS_PER_CHARGE:
            charge(TOKENS_PER_CHARGE)
            uncharged = 0
        match = match_at(source, offset)
        if match is None:
            offset = _skip_invalid(source, offset, issues)
            continue
        kind = match.lastgroup
        if kind != "skip":
            text = match.group()
            if kind == "op" or (kind == "IDENTIFIER" and text in _KEYWORDS):
                kind = text
            elif kind == "STRING" and text[0] in "bB":
                kind = "BYTES"
            assert kind is not None
            tokens.append(Token(kind, text, offset))
        offset = match.end()
    tokens.append(Token("EOF", "<EOF>", end))
    return tokens


def _skip_invalid(source: str, offset: int, issues: list[Issue]) -> int:
    """Return the offset after invalid text: the start of a possible token, and the character where it failed."""
    match = _UNTERMINATED.match(source, offset)
    stop = match.end() if match else offset
    if match and match.group()[:1] not in "`&|=" and source.startswith("\\", stop) and "r" not in match.group()[:2]:
        escape_match = _PARTIAL_ESCAPE.match(source, stop)
        stop = escape_match.end() if escape_match else stop
    text = escape_text(source[offset : stop + 1])
    issues.append(Issue(offset, f"Syntax error: token recognition error at: '{text}'"))
    return stop + 1


def escape_text(text: str) -> str:
    """Return a text with escaped line breaks and tabs."""
    return text.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")


def format_expected(kinds: frozenset[str]) -> str:
    """Return token kinds as error messages list them."""
    ordered = sorted(kinds, key=_ORDER.__getitem__)
    names = ["<EOF>" if kind == "EOF" else kind if kind in _NAMED else f"'{kind}'" for kind in ordered]
    return names[0] if len(names) == 1 else f"{{{', '.join(names)}}}"
