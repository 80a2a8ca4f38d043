"""Strategy of kinds that are described by a struct."""

from __future__ import annotations

from podless.kinds.kind import Kind, Version
from podless.kinds.strategy import Object, Strategy
from podless.meta import structs


class TypedStrategy(Strategy):
    """What the struct does not have is dropped; what has the wrong type is refused."""

    def decode(
        self,
        kind: Kind,
        version: Version,
        obj: Object,
        unknown: list[str],
        known: Object | None = None,
        *,
        fill: bool = True,
    ) -> Object:
        """The object in the struct's field order, with its defaults."""
        struct = kind.struct_of(version)
        assert struct is not None
        decoded = structs.decode(struct, obj, unknown)
        metadata = decoded.pop("metadata", None) or {}
        head = {"kind": obj["kind"], "apiVersion": obj["apiVersion"], "metadata": metadata}
        decoded = head | {name: value for name, value in decoded.items() if name not in head}
        if fill:
            self.default(version, decoded)
        return decoded
