"""Base64: CEL's encoders extension. Rules of definitions do not have it."""

from __future__ import annotations

import base64

from podless.cel.cost import traversal_cost
from podless.cel.errors import EvaluationError
from podless.cel.functions import Library, declare
from podless.codec import gobase64


def _encode_base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


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
        declare("base64.encode(bytes) -> string", "base64_encode_bytes", _encode_base64, traversal_cost()),
        declare("base64.decode(string) -> bytes", "base64_decode_string", _decode_base64, traversal_cost()),
    ),
)
