"""Writes YAML as sigs.k8s.io/yaml does, byte for byte, in one pass and in pieces.

Block style, keys in go-yaml's order, lists indented like their key, lines folded at 80. Strings are written as by
libyaml's emitter, from which go-yaml's is ported; tests compare the two.
"""

from __future__ import annotations

import functools
import heapq
import itertools
import re
from collections.abc import Iterable, Iterator
from typing import Any

from podless.codec import gotext
from podless.codec.gotext import MAX_UINT64, MIN_INT64
from podless.codec.yamlscalar import WORDS, resolve_scalar
from podless.runtime.meter import charge

_WIDTH = 80
_PIECE_CHARACTERS = 1 << 13  # minimum characters of a piece
_KEYS_PER_SORT = 1024  # keys of a mapping; larger mappings are sorted in runs
_KEYS_PER_RUN = 512  # keys of a run, after which other work can go on
_MAX_KEY_BYTES = 128  # maximum bytes of a key with its colon on the same line
_MAX_CACHED = 64
_SCALARS = (str, bool, int, float)
_WHITE = re.compile("[ \n\u2028\u2029]")
_DECIMALS = re.compile(r"[0-9]*+")
_SEXAGESIMAL = re.compile(r"[-+]?[0-9][0-9_]*+(?::[0-5]?[0-9])++(?:\.[0-9_]*+)?")
# strings that need no quotes unless they are words of YAML: no blanks, no signs, no leading digit
_PLAIN = re.compile(r"[A-Za-z_/][-A-Za-z0-9_./+=()$:]*+(?<!:)")
# characters that libyaml does not write literally, such as a tab
_SPECIAL = re.compile("[^\n\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd]")
_ANY_BREAK = re.compile("[\n\r\x85\u2028\u2029]")
_BREAK = re.compile("[\n\u2028\u2029]")
_BESIDE_BREAK = re.compile("[\n\u2028\u2029] | [\n\u2028\u2029]")
_LINE = re.compile("(?<![^\n\u2028\u2029])(?=[^\n\u2028\u2029])")
# a key's colon, or the start of a comment, within a plain string
_SIGN = re.compile("[:](?![^ \n\u2028\u2029])|[ \n\u2028\u2029]#")
_KEY_PARTS = re.compile(r"[0-9]++|[^\W\d_]++|.", re.DOTALL)
_FIRST = frozenset("#,[]{}&*!|>'\"%@`")
_ESCAPED = re.compile(r"[^\x20\x21\x23-\x5b\x5d-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]")
_ESCAPES = {0: "0", 7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 27: "e", 34: '"', 92: "\\"}
_ESCAPES |= {0x85: "N", 0x2028: "L", 0x2029: "P"}


def emit_yaml(value: Any) -> bytes:
    """Return a JSON value as YAML."""
    return b"".join(emit_pieces(value))


def emit_pieces(value: Any) -> Iterator[bytes]:
    """Yield a JSON value as YAML, in pieces of about 8 KiB (or one string), on demand.

    Some pieces are empty, to let other work run while the keys of a large mapping are sorted.
    """
    pending: list[str] = []
    size = 0
    for text in _write_parts(value):
        if not text:  # a pause
            yield b""
            continue
        pending.append(text)
        size += len(text)
        if size >= _PIECE_CHARACTERS:
            yield "".join(pending).encode("utf-8", "replace")
            pending.clear()
            size = 0
    pending.append("\n")
    yield "".join(pending).encode("utf-8", "replace")


class _Open:
    """A mapping or list that is being written. lead: text before its next entry. start: before all later ones."""

    __slots__ = ("indent", "items", "lead", "mapping", "start")

    def __init__(self, items: Iterator[Any], mapping: bool, indent: int, lead: str) -> None:
        self.items = items
        self.mapping = mapping
        self.indent = indent
        self.start = "\n" + " " * indent + ("" if mapping else "- ")
        self.lead = lead if mapping else f"{lead}- "


class _TextCache:
    """Caches the texts of repeated parts of a document: sets of keys, keys, short strings."""

    def __init__(self) -> None:
        self.orders: dict[tuple[str, ...], list[str]] = {}
        self.keys: dict[str, str | None] = {}
        self.texts: dict[str, str] = {}

    def open(self, value: Any, indent: int, lead: str) -> _Open:
        """Start a mapping or list."""
        if value.__class__ is not dict:
            if value.__class__ is list:  # items of other iterables are produced, and charged, one by one
                charge(len(value))
            return _Open(iter(value), False, indent, lead)
        charge(len(value))
        if len(value) > _KEYS_PER_SORT:
            return _Open(_sort_lazily(value), True, indent, lead)
        names = tuple(value)
        order = self.orders.get(names)
        if order is None:
            order = self.orders[names] = _sort_names(names)
        return _Open(((name, value[name]) for name in order), True, indent, lead)

    def get_key_text(self, text: str) -> str | None:
        try:
            return self.keys[text]
        except KeyError:
            result = self.keys[text] = _write_key(text)
            return result

    def get_scalar_text(self, value: Any, column: int, indent: int) -> str:
        if value.__class__ is not str:
            return _write_scalar(value, column, indent)
        text = self.texts.get(value)
        if text is None:
            text = _write_text(value, column, indent)
            if len(value) <= _MAX_CACHED and not _WHITE.search(value):  # its text does not depend on column and indent
                self.texts[value] = text
        return text


def _write_parts(value: Any) -> Iterator[str]:
    """Yield the text of a value without its last line break."""
    if not (isinstance(value, dict | list) and value):
        yield _write_scalar(value, 0, 2)
        return
    cache = _TextCache()
    containers = [cache.open(value, 0, "")]
    while containers:
        holder = containers[-1]
        indent = holder.indent
        for item in holder.items:
            if item is None and holder.mapping:
                yield ""
                continue
            head, holder.lead = holder.lead, holder.start
            # column of the value, and the text before the value if it is a mapping or list
            column, lead, between = indent + 2, "", ""
            if holder.mapping:
                key, item = item
                text = cache.get_key_text(key)
                if text is not None:
                    head, column, lead = f"{head}{text}:", indent + len(text) + 2, "\n"
                else:
                    head, lead = f"{head}? {_write_text(key, column, column)}\n{' ' * indent}:", " "
                between = " "
            if not item or item.__class__ in _SCALARS:
                yield f"{head}{between}{cache.get_scalar_text(item, column, indent + 2)}"
                continue
            yield head
            item_indent = indent if lead == "\n" and item.__class__ is not dict else indent + 2
            containers.append(cache.open(item, item_indent, f"\n{' ' * item_indent}" if lead == "\n" else lead))
            break
        else:
            containers.pop()


def _write_scalar(value: Any, column: int, indent: int) -> str:
    """Return a scalar or an empty container. column: where it starts. indent: of further lines."""
    kind = value.__class__
    if kind is str:
        return _write_text(value, column, indent)
    if kind is bool:
        return "true" if value else "false"
    if value is None:
        return "null"
    if kind is dict:
        return "{}"
    if kind is list:
        return "[]"
    if kind is int and MIN_INT64 <= value <= MAX_UINT64:
        return str(value)
    return gotext.format_float(float(value))


def _write_key(text: str) -> str | None:
    """Return a key for one line; None if it has line breaks or is too long for that."""
    if _PLAIN.fullmatch(text) and text not in WORDS and len(text) <= _MAX_KEY_BYTES:
        return text
    if len(text.encode("utf-8", "replace")) > _MAX_KEY_BYTES or _ANY_BREAK.search(text):
        return None
    return _write_text(text, 0, 0, fold=False)


def _write_text(text: str, column: int, indent: int, *, fold: bool = True) -> str:
    """Return a string: literal if it has lines, quoted if its meaning would change, else plain."""
    if _PLAIN.fullmatch(text) and text not in WORDS:
        return text
    special = _SPECIAL.search(text) is not None
    if "\n" in text:
        if special or text[-1] == " " or " \n" in text or " \u2028" in text or " \u2029" in text:
            return _quote_double(text, column, indent, fold)
        return _write_literal(text, indent)
    if special or resolve_scalar(text)[0] != "str" or _SEXAGESIMAL.fullmatch(text) or _BESIDE_BREAK.search(text):
        return _quote_double(text, column, indent, fold)
    if text[0] == " " or text[-1] == " " or _BREAK.search(text) or _needs_quotes(text):
        return _quote_single(text, column, indent, fold)
    return _fold_text(text, column, indent) if fold else text


def _needs_quotes(text: str) -> bool:
    """Return whether a string would mean something else if it were plain."""
    first = text[0]
    if first in _FIRST or text.startswith(("---", "...")):
        return True
    return (first in "?-" and text[1:2] in ("", " ")) or _SIGN.search(text) is not None


def _write_literal(text: str, indent: int) -> str:
    hint = "2" if text[0] == " " or _BREAK.match(text) else ""
    if not _BREAK.match(text[-1]):
        hint += "-"
    elif len(text) == 1 or _BREAK.match(text[-2]):
        hint += "+"
    return f"|{hint}\n{_indent_lines(text, ' ' * indent).removesuffix(chr(10))}"


def _indent_lines(text: str, blanks: str) -> str:
    """Return a text with `blanks` before each line that is not empty."""
    if "\u2028" in text or "\u2029" in text:
        return _LINE.sub(blanks, text)
    return "\n".join([blanks + line if line else "" for line in text.split("\n")])


def _quote_single(text: str, column: int, indent: int, fold: bool) -> str:
    if not _BREAK.search(text):
        escaped = text.replace("'", "''")
        return f"'{_fold_text(escaped, column + 1, indent) if fold else escaped}'"
    pieces, offset = ["'"], 0
    charge(len(text))
    column += 1
    for line_break in _BREAK.finditer(text):
        pieces += (_fold_text(text[offset : line_break.start()].replace("'", "''"), column, indent), line_break.group())
        offset, column = line_break.end(), indent
        if not _BREAK.match(text, offset):
            pieces.append(" " * indent)
    pieces.append(_fold_text(text[offset:].replace("'", "''"), column, indent))
    return "".join(pieces) + "'"


def _quote_double(text: str, column: int, indent: int, fold: bool) -> str:
    escaped = _ESCAPED.sub(_escape_char, text)
    return f'"{_fold_text(escaped, column + 1, indent, quoted=True) if fold else escaped}"'


def _escape_char(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code in _ESCAPES:
        return "\\" + _ESCAPES[code]
    return f"\\x{code:02X}" if code < 0x100 else f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"


def _fold_text(text: str, column: int, indent: int, quoted: bool = False) -> str:
    """Return a text folded at the first blank after column 80. quoted: in double quotes."""
    if column + len(text) <= _WIDTH:
        return text
    lines, start, mark = [], 0, ""
    charge(len(text))
    at = text.find(" ", max(_WIDTH + 1 - column, 1))
    while 0 <= at < len(text) - 1:
        doubled = text[at + 1] == " "
        if text[at - 1] == " " or (doubled and not quoted):
            at = text.find(" ", at + 1)
            continue
        lines.append(mark + text[start:at])
        start, mark = at + 1, "\\" if doubled else ""
        at = text.find(" ", max(start + _WIDTH + 1 - indent - len(mark), start + 1))
    lines.append(mark + text[start:])
    return f"\n{' ' * indent}".join(lines)


def _sort_names(keys: Iterable[str]) -> list[str]:
    """Return keys in go-yaml's order: letters after everything else, numbers by value."""
    names = sorted(keys)
    return names if all(map(str.isalpha, names)) else sorted(names, key=_AS_GO)


def _sort_lazily(value: dict[str, Any]) -> Iterator[tuple[str, Any] | None]:
    """Yield the entries of a large mapping in order, computed on demand; None to let other work run."""
    runs: list[list[tuple[str, str]]] = []
    names = list(value)
    for start in range(0, len(names), _KEYS_PER_RUN):
        runs.append(sorted((_rank_key(name), name) for name in names[start : start + _KEYS_PER_RUN]))
        charge(_KEYS_PER_RUN)
        yield None
    for _, name in heapq.merge(*runs):
        yield name, value[name]


def _rank_key(text: str) -> str:
    """Return a sort key with the order of `_compare_keys`, for strings without a letter after a digit.

    With one, `_compare_keys` is not transitive (12, 1x, 2), and any order will do. Parts are marked so that letters
    come after everything else, and numbers after signs; of two numbers, the longer is the larger.
    """
    chunks: list[str] = []
    for piece in _KEY_PARTS.findall(text):
        if "0" <= piece[0] <= "9":
            bare = piece.lstrip("0")
            chunks.append(f"\2{len(bare):07}{bare}{len(piece):07}")
        elif piece.isalpha():
            chunks.append(f"\3{piece}")
        else:
            for letters, group in itertools.groupby(piece, str.isalpha):
                chars = "".join(group)
                chunks += [f"\3{chars}"] if letters else [f"\1{char}" for char in chars]
    return "".join(chunks)


def _compare_keys(left: str, right: str) -> int:
    if left == right:
        return 0
    start = _find_difference(left, right)
    if start == min(len(left), len(right)):
        return len(left) - len(right)
    a, b = left[start], right[start]
    if a.isalpha() or b.isalpha():
        less = a < b if a.isalpha() and b.isalpha() else b.isalpha()
        return -1 if less else 1
    seed = ""
    if "0" in (a, b):  # inside a number, the digits before count, unless all of them are zeros
        before = left[:start]
        seed = "1" if before[len(before.rstrip("0123456789")) :].strip("0") else ""
    return -1 if _rank_number(seed, left, start) < _rank_number(seed, right, start) else 1


_AS_GO = functools.cmp_to_key(_compare_keys)


def _find_difference(left: str, right: str) -> int:
    """Return the index of the first difference of two texts, by bisection at the speed of C."""
    low, high = 0, min(len(left), len(right))
    for index in range(min(high, 16)):
        if left[index] != right[index]:
            return index
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _rank_number(seed: str, text: str, start: int) -> tuple[int, str, int, str]:
    """Return a sort key for the number at `start`, which can have any number of digits. seed: digits before them."""
    match = _DECIMALS.match(text, start)
    digits = match.group() if match else ""
    value = (seed + digits).lstrip("0")
    return len(value), value, len(digits), text[start]
