"""YAML texts that are also JSON with the same meaning: decoding them as JSON takes a hundredth of the time."""

from __future__ import annotations

from podless.codec import serializer
from podless.runtime.jsonobject import Object

# characters with the same meaning in both, except in merge keys and numeric escapes
_PLAIN = bytes((10, 13, *range(32, 127)))
_ESCAPE, _MERGE = b"\\u", b'"<<"'


def decode_object(raw: bytes) -> Object | None:
    """Return the object in a text that is JSON; None if it must be decoded as YAML."""
    if not raw.startswith(b"{") or raw.translate(None, _PLAIN) or raw.find(_ESCAPE) >= 0 or raw.find(_MERGE) >= 0:
        return None
    repeated: list[str] = []
    try:
        value: Object = serializer.decode_json(raw, repeated)
    except serializer.JSONError:
        return None
    return None if repeated else value


def read_yaml_as_json(raw: bytes) -> serializer.ParsedYAML | None:
    """Return a parsed text if it is JSON, for callers that decode YAML; else None."""
    value = decode_object(raw)
    if value is None:
        return None
    yaml = serializer.ParsedYAML(raw)
    yaml.outcome = value, []
    return yaml
