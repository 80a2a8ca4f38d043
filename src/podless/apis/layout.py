"""The layout of built-in kinds in etcd: kube-apiserver's keys, and values in protobuf or JSON, as it writes them."""

from __future__ import annotations

from typing import Any

from podless.apis import catalog
from podless.codec import serializer
from podless.kinds import view
from podless.kinds.kind import Kind
from podless.store import StoredValue, keys
from podless.store.etcd.layout import KeyLayout, resource_names
from podless.structs import protobuf
from podless.structs.wire import ProtobufError


def key_layout(root: str) -> KeyLayout:
    """Return the layout below a prefix such as /registry."""
    kinds = {kind.prefix: kind for kind in catalog.ALL if kind.home is None}

    def decode_value(key: str, value: bytes) -> StoredValue | None:
        kind = kinds.get(keys.prefix_of(key))
        if kind is None or kind.struct is None:
            return None
        try:
            return view.encode_object(kind, _convert_to_stored(kind, _read_object(kind, value)))
        except (ProtobufError, ValueError, LookupError, TypeError, AttributeError):
            return None

    return KeyLayout(
        root, resource_names({prefix: (kind.group, kind.plural) for prefix, kind in kinds.items()}), decode_value
    )


def _read_object(kind: Kind, value: bytes) -> dict[str, Any]:
    if not value.startswith(protobuf.PREFIX):
        read: dict[str, Any] = serializer.decode_own(value)
        return read
    version = kind.by_version.get(protobuf.open_envelope(value).api_version.rpartition("/")[2])
    struct = kind.struct_of(version) if version is not None else kind.struct
    assert struct is not None
    return protobuf.read_object(value, struct)


def _convert_to_stored(kind: Kind, obj: dict[str, Any]) -> dict[str, Any]:
    """Convert an object to the version that podless stores, also from versions that it does not serve."""
    if obj["apiVersion"].rpartition("/")[2] in kind.by_version:
        return kind.strategy.make_stored(kind, obj)
    return {**obj, "apiVersion": kind.api_version(kind.storage_version)}
