"""ServiceCIDR: where addresses of services are taken from. Source: Kubernetes' pkg/apis/networking/validation."""

from __future__ import annotations

from collections.abc import Sequence

from podless.kinds.builtin import counts
from podless.kinds.builtin.speced import SpecStrategy
from podless.kinds.kind import Kind, Version
from podless.kinds.strategy import Object
from podless.kinds.types.networking import SERVICE_CIDR
from podless.meta import addresses, field
from podless.meta.field import FieldError

_MOST_RANGES = 2
_SAME_FAMILY = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"


class ServiceCIDRStrategy(SpecStrategy):
    """A range that addresses are taken from, one of each family at the most."""

    generation = False

    def validate_create(self, kind: Kind, version: Version, obj: Object) -> Sequence[FieldError]:
        """Ranges in their one form."""
        ranges, path = obj["spec"].get("cidrs") or [], "spec.cidrs"
        shown = {"CIDRs": ranges}
        if not ranges:
            return [field.required(path, "at least one CIDR required")]
        if len(ranges) > _MOST_RANGES:
            return [field.invalid(path, shown, f"may only hold up to {_MOST_RANGES} values")]
        if len(ranges) == _MOST_RANGES:
            families = {found.version if (found := addresses.parse_range(text)) else 0 for text in ranges}
            if families != {4, 6}:
                return [field.invalid(path, shown, _SAME_FAMILY)]
        return [
            field.invalid(f"{path}[{place}]", text, fault)
            for place, text in enumerate(ranges)
            for fault in addresses.canonical_range_faults(text)
        ]

    def validate_update(
        self, kind: Kind, version: Version, obj: Object, old: Object, warnings: list[str]
    ) -> Sequence[FieldError]:
        """The ranges stay."""
        given, before = (one["spec"].get("cidrs") for one in (obj, old))
        return counts.immutable("spec.cidrs", given, before)

    def validate_status(
        self, kind: Kind, version: Version, obj: Object, old: Object, warnings: list[str]
    ) -> Sequence[FieldError]:
        """Nothing."""
        return ()


STRUCT = SERVICE_CIDR
STRATEGY = ServiceCIDRStrategy()
