"""Strategy of ServiceCIDR. Source: Kubernetes' pkg/apis/networking/validation."""

from __future__ import annotations

from podless.apis.shared.checks import immutable_error, validate_immutable
from podless.apis.shared.typed import TypedStrategy
from podless.kinds.kind import Version
from podless.kinds.strategy import Faults, MetadataPolicy
from podless.meta import addresses, field
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.structs import gostructs

_PATH = "spec.cidrs"
_MAX_RANGES = 2
_SAME_FAMILY = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"


class ServiceCIDRStrategy(TypedStrategy):
    """Strategy of ServiceCIDR: ranges of Service addresses, at most one of each IP family."""

    metadata = MetadataPolicy(on_update=(0, 1))

    def validate(self, version: Version, obj: Object, old: Object | None) -> field.Errors:
        cidrs, before = obj["spec"].get("cidrs") or [], (old or {"spec": {}})["spec"].get("cidrs") or []
        if old is not None and (len(before), len(cidrs)) not in ((1, 2), (len(cidrs), len(before))):
            yield immutable_error(_PATH, obj["spec"].get("cidrs"))
            return
        for index, (text, text_before) in enumerate(zip(each(cidrs), before, strict=False)):
            yield from validate_immutable(f"{_PATH}[{index}]", text, text_before)
        if old is None or len(cidrs) != len(before):
            yield from _validate_ranges(cidrs)

    def validate_status(self, version: Version, obj: Object, old: Object) -> Faults:
        return ()


def _validate_ranges(ranges: list[str]) -> field.Errors:
    """Validate CIDRs: in canonical form, and of different families."""
    if not ranges:
        yield field.required(_PATH, "at least one CIDR required")
        return
    if len(ranges) > _MAX_RANGES:
        shown_text = gostructs.format_struct("networking/v1.ServiceCIDRSpec", {"cidrs": ranges})
        yield field.invalid(_PATH, shown_text, f"may only hold up to {_MAX_RANGES} values")
        return
    yield from (
        field.invalid(f"{_PATH}[{index}]", text, fault)
        for index, text in enumerate(each(ranges))
        for fault in addresses.find_canonical_range_faults(text)
    )
    families = [addresses.find_range_family(text) for text in each(ranges)]
    if len(ranges) == _MAX_RANGES and families[0] and families[0] == families[1]:
        yield field.invalid(_PATH, ranges, _SAME_FAMILY)


STRATEGY = ServiceCIDRStrategy()
