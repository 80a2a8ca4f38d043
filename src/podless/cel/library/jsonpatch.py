"""jsonpatch.escapeKey (Kubernetes), for mutating policies only."""

from __future__ import annotations

from podless.cel.functions import Library, declare


def _escape_key(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


LIBRARY = Library(
    "jsonpatch",
    (declare("jsonpatch.escapeKey(string) -> string", "string_jsonpatch_escapeKey_string", _escape_key),),
)
