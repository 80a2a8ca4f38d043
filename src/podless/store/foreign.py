"""Makes stored values of objects that another server has written."""

from __future__ import annotations

import uuid

from podless.codec import serializer
from podless.runtime.jsonobject import Object
from podless.store.keys import Stored


def encode_foreign(obj: Object) -> Stored:
    """Return an object with a gap for its revision. Raises ValueError, TypeError, LookupError for other values."""
    mark = uuid.uuid4().hex  # a value that the object cannot contain
    body = serializer.encode_sorted({**obj, "metadata": {**obj["metadata"], "resourceVersion": mark}})
    marked = mark.encode()
    offset = body.index(marked)
    return Stored(body[:offset] + body[offset + len(marked) :], offset)
