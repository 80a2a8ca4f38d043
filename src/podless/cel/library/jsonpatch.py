"""jsonpatch.escapeKey (Kubernetes), for mutating policies only."""

from __future__ import annotations

from podless.cel.decls import Library, declare_global
from podless.cel.types import STRING


def _escape_key(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


LIBRARY = Library(
    "jsonpatch",
    (declare_global("jsonpatch.escapeKey", "string_jsonpatch_escapeKey_string", (STRING,), STRING, _escape_key),),
)
