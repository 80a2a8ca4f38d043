"""Escapes property names as CEL identifiers, and back (Kubernetes)."""

from __future__ import annotations

from podless.runtime.lazy import compile_late

RESERVED = frozenset(
    (
        *("as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "in", "let"),
        *("loop", "namespace", "null", "package", "return", "true", "var", "void", "while"),
    )
)
_PLAIN = compile_late(r"[a-zA-Z_][a-zA-Z0-9_]*\Z")
_ALLOWED = compile_late(r"[a-zA-Z_.\-/][a-zA-Z0-9_.\-/]*\Z")
_ESCAPABLE = compile_late(r"__|[-./]")
_ESCAPES = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}
_UNESCAPES = {"underscores": "__", "dot": ".", "dash": "-", "slash": "/"}
_ESCAPED = compile_late(r"__([^_]+)__")


def escape_name(name: str) -> str | None:
    """Return a property's name as a CEL field, None if it has no such form."""
    if name in RESERVED:
        return f"__{name}__"
    if "__" not in name and _PLAIN.match(name):
        return name
    if not _ALLOWED.match(name):
        return None
    return _ESCAPABLE.sub(lambda match: _ESCAPES[match.group()], name)


def unescape_field(field: str) -> str:
    """Return the property name of a CEL field."""
    if "__" not in field:
        return field
    if field.startswith("__") and field.endswith("__") and field[2:-2] in RESERVED:
        return field[2:-2]
    return _ESCAPED.sub(lambda match: _UNESCAPES.get(match[1], match.group()), field)
