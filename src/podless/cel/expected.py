"""The tokens that can begin an expression, and tokens in error messages."""

from __future__ import annotations

# in the order in which ANTLR lists expected tokens
_FIRST = ("[", "{", "(", ".", "-", "!", "true", "false", "null")
_KINDS = ("NUM_FLOAT", "NUM_INT", "NUM_UINT", "STRING", "BYTES", "IDENTIFIER")
START = frozenset((*_FIRST, *_KINDS))
_ORDER = {name: place for place, name in enumerate(
    ("==", "!=", "in", "<", "<=", ">=", ">", "&&", "||", "[", "]", "{", "}", "(", ")", ".", ",", "-", "!", "?", ":",
     "+", "*", "/", "%", "true", "false", "null", "NUM_FLOAT", "NUM_INT", "NUM_UINT", "STRING", "BYTES",
     "IDENTIFIER", "ESC_IDENTIFIER", "EOF")
)}  # fmt: skip
_NAMED = frozenset((*_KINDS, "ESC_IDENTIFIER"))


def escape_text(text: str) -> str:
    """Return a text with escaped line breaks and tabs."""
    return text.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")


def format_wanted(wanted: frozenset[str]) -> str:
    """Return token kinds as error messages list them."""
    names = [_name(kind) for kind in sorted(wanted, key=_ORDER.__getitem__)]
    return names[0] if len(names) == 1 else f"{{{', '.join(names)}}}"


def _name(kind: str) -> str:
    if kind == "EOF":
        return "<EOF>"
    return kind if kind in _NAMED else f"'{kind}'"
