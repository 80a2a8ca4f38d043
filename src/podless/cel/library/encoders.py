"""Base64: CEL's encoders extension. Rules of definitions do not have it."""

from __future__ import annotations

import base64

from podless.cel.decls import Library, declare_function, declare_global, overload
from podless.cel.errors import EvaluationError
from podless.cel.sizes import traversal_cost
from podless.cel.types import BYTES, STRING
from podless.codec import gobase64


def _decode_base64(text: str) -> bytes:
    try:
        return gobase64.decode_base64(text)
    except ValueError:
        pass
    try:
        return gobase64.decode_base64(text, padded=False)
    except ValueError as error:
        raise EvaluationError(str(error)) from None


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
