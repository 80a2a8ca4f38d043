"""Decodes AdmissionReview and ConversionReview, the answers of webhooks, as a real server's client does.

Source: client-go's rest.Result, and the serializers of k8s.io/apimachinery that it chooses by the start of the answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from podless.codec import gotext, serializer
from podless.kinds.scheme import GoScheme, read_type_meta, unreadable_error
from podless.runtime.jsonobject import Object
from podless.structs import repeats, structs
from podless.structs.structs import Struct

_OBJECT = re.compile(rb"[ \t\r\n]*+\{")
_MAX_YAML = 3 << 20  # bytes, as for request bodies; decoded YAML takes a hundred times as much memory


class InvalidReview(Exception):
    """The answer does not fit the request; the text says why."""


class Undecodable(InvalidReview):
    """The answer is not the expected review; the text says why."""


def decode_review(raw: bytes, structs_by_version: Mapping[str, Struct], api_version: str, scheme: GoScheme) -> Object:
    """Decode the review in a JSON or YAML answer, which may lack apiVersion and kind.

    structs_by_version: the fields of a review, by apiVersion. api_version: of the request. scheme: types that the
    webhook client knows. Raises Undecodable.
    """
    struct = structs_by_version[api_version]
    repeated: list[str] = []
    try:
        if _OBJECT.match(raw):
            value = serializer.decode_json(raw, repeated)
            if repeated:
                value = repeats.decode_repeats(struct, raw, [])
        elif len(raw) > _MAX_YAML:
            raise Undecodable(f"an answer that is no JSON object is read up to {_MAX_YAML} bytes")
        else:
            value = serializer.decode_yaml(raw)
        type_meta = read_type_meta(value)
    except serializer.YAMLError as error:
        raise Undecodable(error.message) from None
    except serializer.JSONError as error:
        raise Undecodable(str(unreadable_error(error))) from None
    except ValueError as error:
        raise Undecodable(str(error)) from None
    kind, version = type_meta.kind or struct.name, type_meta.api_version or api_version
    try:
        # a real server decodes another version before it finds that it cannot convert it
        decoded = (
            structs.decode_struct(structs_by_version[version], value or {})
            if kind == struct.name and version in structs_by_version
            else {}
        )
    except structs.DecodeError as error:
        raise Undecodable(str(error)) from None
    if (kind, version) != (struct.name, api_version):
        raise Undecodable(scheme.explain_unfit(kind, version, struct.go))
    return decoded


def check_type(review: Object, api_version: str, kind: str) -> None:
    """Raise InvalidReview for a review without apiVersion and kind."""
    expected = f"{api_version}, Kind={kind}"
    actual = f"{review.get('apiVersion') or '/'}, Kind={review.get('kind') or ''}"
    if actual != expected:
        raise InvalidReview(f"expected webhook response of {expected}, got {actual}")


def check_uid(response: Object, uid: str) -> None:
    """Raise InvalidReview for a response to another request."""
    actual = response.get("uid") or ""
    if actual != uid:
        raise InvalidReview(f"expected response.uid={gotext.quote(uid)}, got {gotext.quote(actual)}")
