"""The kind Change of history.podless.dev, declared like a custom kind. Its objects are not stored."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from podless.codec import serializer
from podless.kinds.compile import compile_kind
from podless.kinds.kind import Kind

VERBS = ("get", "list", "watch")


def make_history_kind() -> Kind:
    """Return the kind."""
    definition = serializer.decode_yaml(Path(__file__).with_name("change.yaml").read_bytes())
    return replace(compile_kind(definition, serializer.encode_json(definition)), verbs=VERBS, hashed=False)
