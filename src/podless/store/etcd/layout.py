"""The layout of objects in etcd, which is kube-apiserver's, so that either can serve what the other wrote.

Custom objects are at PREFIX/GROUP/RESOURCE/NAMESPACE/NAME. Built-in resources have their own names
(PREFIX/pods/NAMESPACE/NAME). A value is the object's JSON. podless writes an empty resourceVersion, which
kube-apiserver treats as none. Values of other programs have none, and get a gap for it when they are read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from podless.codec import serializer
from podless.store import keys
from podless.store.contract import Record
from podless.store.keys import StoredValue, encode_foreign

_NEEDLE = b'"resourceVersion":""'
_BEFORE = len(_NEEDLE) - 1  # bytes of it before the gap for the revision
# other values are wrapped: this prefix, the offset, a zero byte, and the value
_WRAPPED = b"podless\0"
_MAGIC = b"k8s\0"  # start of kube-apiserver's protobuf values
_GROUP_IN_KEY = {"apiextensions.k8s.io", "apiregistration.k8s.io"}  # groups whose keys contain the group
_OTHER_NAMES = {
    "services": "services/specs",
    "endpoints": "services/endpoints",
    "nodes": "minions",
    "replicationcontrollers": "controllers",
    "ingresses": "ingress",
}
# decodes a built-in object that a kube-apiserver wrote; None if the value is none, or cannot be decoded
Decode = Callable[[str, bytes], StoredValue | None]


class KeyLayout:
    """The keys and values of one server.

    root: the prefix of all keys in etcd. names: of built-in resources, by the prefix of their keys here, such as
    /core/services/ -> services/specs. decode: reads values that other programs wrote.
    """

    def __init__(self, root: str, names: Mapping[str, str], decode: Decode | None = None) -> None:
        self.root = root
        self._etcd_prefixes = {prefix: f"{root}/{name}/" for prefix, name in names.items()}
        self._own_prefixes = {f"{name}/": prefix for prefix, name in names.items()}
        self._start = len(root) + 1
        self._decode = decode

    def encode_key(self, key: str) -> bytes:
        """Return the etcd key for a key, or the etcd prefix for a prefix."""
        second = key.find("/", key.find("/", 1) + 1)
        etcd_prefix = self._etcd_prefixes.get(key[: second + 1]) if second > 0 else None
        return f"{self.root}{key}".encode() if etcd_prefix is None else f"{etcd_prefix}{key[second + 1 :]}".encode()

    def encode_end(self, prefix: str) -> bytes:
        """Return the first etcd key after all that have a prefix. The change log is after all objects."""
        if prefix == keys.ALL:
            return f"{self.root}/~".encode()
        start = self.encode_key(prefix)
        return start[:-1] + bytes((start[-1] + 1,))

    def decode_key(self, key: bytes) -> str:
        """Return the key for a key in etcd."""
        text = key[self._start :].decode()
        first = text.find("/") + 1
        own_prefix = self._own_prefixes.get(text[:first])
        if own_prefix is None:
            first = text.find("/", first) + 1
            own_prefix = self._own_prefixes.get(text[:first])
        return f"/{text}" if own_prefix is None else f"{own_prefix}{text[first:]}"

    def decode_record(self, kv: Any) -> Record:
        """Return the state of a key in a KeyValue of etcd."""
        key = self.decode_key(kv.key)
        return Record(key, self.decode_value(key, kv.value), kv.mod_revision, kv.create_revision)

    def encode_value(self, stored: StoredValue) -> bytes:
        """Return the value to write to etcd."""
        data, offset, _ = stored
        return data if _find_offset(data) == offset else b"%b%d\0%b" % (_WRAPPED, offset, data)

    def decode_value(self, key: str, value: bytes) -> StoredValue:
        """Return a value that was read from etcd, with the offset of its revision."""
        offset = _find_offset(value)
        if offset >= 0:
            return StoredValue(value, offset)
        if value.startswith(_WRAPPED):
            number, _, data = value[len(_WRAPPED) :].partition(b"\0")
            return StoredValue(data, int(number))
        read = self._decode(key, value) if self._decode is not None else None
        return read or (StoredValue(value) if value.startswith(_MAGIC) else _split_foreign(value))


def _find_offset(value: bytes) -> int:
    """Return the offset in a value that podless wrote, if the value alone shows it; -1 for other values."""
    if not value.startswith(b'{"') or value.endswith(b"\n"):
        # a value that is not JSON has no revision; JSON of other servers ends with a line break
        return -1 if value.startswith((b"{", _WRAPPED, _MAGIC)) else 0
    index = value.find(_NEEDLE)
    return index + _BEFORE if index > 0 else -1


def _split_foreign(value: bytes) -> StoredValue:
    """Return a value that another program wrote, with a gap for its revision."""
    try:
        return encode_foreign(serializer.decode_own(value))
    except (ValueError, TypeError, LookupError):
        return StoredValue(value)


def resource_names(resources: Mapping[str, tuple[str, str]]) -> dict[str, str]:
    """Return the names of built-in resources in etcd. resources: group and plural, by the prefix of their keys.

    Source: the storage prefixes of kube-apiserver; most are the plural, without the group.
    """
    return {
        prefix: _OTHER_NAMES.get(plural, plural)
        for prefix, (group, plural) in resources.items()
        if group not in _GROUP_IN_KEY
    }
