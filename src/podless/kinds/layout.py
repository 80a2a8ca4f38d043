"""How built-in kinds lie in etcd: under kube-apiserver's names, and readable where it wrote them in protobuf."""

from __future__ import annotations

from podless.kinds import builtin, view
from podless.meta import protobuf
from podless.meta.wire import ProtobufError
from podless.store import Stored, keys
from podless.store.etcd.layout import Layout, names


def layout(root: str) -> Layout:
    """The layout below a prefix such as /registry."""
    kinds = {kind.prefix: kind for kind in builtin.ALL if kind.home is None}

    def decode(key: str, value: bytes) -> Stored | None:
        kind = kinds.get(keys.prefix(key))
        if kind is None or kind.struct is None:
            return None
        try:
            obj = protobuf.read(value, kind.struct)
            return view.encode(kind, obj)
        except (ProtobufError, LookupError):
            return None

    return Layout(root, names({prefix: (kind.group, kind.plural) for prefix, kind in kinds.items()}), decode)
