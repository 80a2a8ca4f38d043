"""Objects that another server has written, as an engine keeps them."""

from __future__ import annotations

import uuid

from podless.codec import serializer
from podless.runtime.jsonobject import Object
from podless.store.keys import Stored


def encode_foreign(obj: Object) -> Stored:
    """Return an object with a place for its revision. Raises ValueError, TypeError, LookupError for other values."""
    mark = uuid.uuid4().hex  # which the object cannot have
    body = serializer.encode_sorted({**obj, "metadata": {**obj["metadata"], "resourceVersion": mark}})
    marked = mark.encode()
    offset = body.index(marked)
    return Stored(body[:offset] + body[offset + len(marked) :], offset)
