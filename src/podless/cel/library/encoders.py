"""Base64: CEL's encoders extension. Rules of definitions do not have it."""

from __future__ import annotations

import base64
import binascii

from podless.cel.decls import Library, declare_function, declare_global, overload
from podless.cel.errors import EvaluationError
from podless.cel.sizes import traversal_cost
from podless.cel.types import BYTES, STRING
from podless.codec import gobase64
from podless.runtime.lazy import compile_late

_ALPHABET = compile_late(r"[A-Za-z0-9+/]*={0,2}\Z")


def _decode_base64(text: str) -> bytes:
    if not _ALPHABET.match(text):
        raise EvaluationError(gobase64.format_fault(0))
    try:
        return base64.b64decode(text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4))
    except binascii.Error:
        raise EvaluationError(gobase64.format_fault(len(text))) from None


LIBRARY = Library(
    "encoders",
    (
        declare_function(
            "base64.encode",
            overload("base64_encode_bytes", (BYTES,), STRING, lambda data: base64.b64encode(data).decode()),
            cost=traversal_cost(),
        ),
        declare_global("base64.decode", "base64_decode_string", (STRING,), BYTES, _decode_base64, traversal_cost()),
    ),
)
