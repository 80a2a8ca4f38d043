"""Decodes the body of a call (kinds/bodies.py)."""

from __future__ import annotations

from podless.kinds import bodies
from podless.kinds.bodies import Body
from podless.runtime.jsonobject import Object
from podless.verbs.call import Call
from podless.verbs.options import WriteOptions


def read_body(call: Call, options: WriteOptions) -> Object:
    """Return the object in the body with defaults. Adds warnings and floats to the call. Raises BadRequest."""
    body = Body(call.kind, call.version, call.body, call.content_type, options.validation, call.warnings, call.floats)
    return bodies.read_body(body)
