"""Strategy of EndpointSlice.

Source: Kubernetes' pkg/apis/discovery/validation and pkg/registry/discovery/endpointslice.
"""

from __future__ import annotations

from collections.abc import Sequence

from podless.apis.core import servicespec
from podless.apis.core.endpoints import validate_protocols
from podless.apis.shared import checks
from podless.apis.shared.checks import immutable_error
from podless.apis.shared.typed import TypedStrategy
from podless.codec.gotext import Named
from podless.kinds.kind import Version
from podless.kinds.strategy import MetadataPolicy
from podless.meta import addresses, field, names
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import has

_TYPES = ("FQDN", "IPv4", "IPv6")
_MAX_ENDPOINTS, _MAX_ADDRESSES, _MAX_PORTS, _MAX_HINTS = 1000, 100, 20000, 8
_MANAGED_BY = "endpointslice.kubernetes.io/managed-by"
_CONTROLLERS = ("endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io")
_DOMAINS = "spec.addressType: FQDN endpoints are deprecated"


class EndpointSliceStrategy(TypedStrategy):
    """Strategy of EndpointSlice. All changes except annotations increase metadata.generation."""

    rearranged = False
    has_generation = True
    metadata = MetadataPolicy(on_update=(1, 0))

    def prepare_create(self, version: Version, obj: Object) -> None:
        for endpoint in each(obj.get("endpoints") or []):
            endpoint.pop("deprecatedTopology", None)

    def prepare_update(self, version: Version, obj: Object, old: Object) -> None:
        if obj.get("endpoints") != old.get("endpoints"):
            self.prepare_create(version, obj)

    def increases_generation(self, version: Version, obj: Object, old: Object) -> bool:
        """Also count changes of labels."""
        field_names = ("addressType", "endpoints", "ports")
        labels = [state["metadata"].get("labels") or {} for state in (obj, old)]
        return any((obj.get(name) or None) != (old.get(name) or None) for name in field_names) or labels[0] != labels[1]

    def validate(self, version: Version, obj: Object, old: Object | None) -> field.Errors:
        """Accept invalid endpoints if they did not change."""
        address_type = obj["addressType"]
        yield from checks.validate_enum("addressType", address_type, _TYPES)
        yield from _slice_ports(obj.get("ports") or [])
        endpoints = obj.get("endpoints") or []
        if old is None or obj.get("endpoints") != old.get("endpoints"):
            if len(endpoints) > _MAX_ENDPOINTS:
                yield field.too_many("endpoints", len(endpoints), _MAX_ENDPOINTS)
                endpoints = []
            for index, endpoint in enumerate(each(endpoints)):
                yield from _validate_endpoint(endpoint, address_type, f"endpoints[{index}]")
        if old is not None and address_type != old["addressType"]:
            yield immutable_error("addressType", address_type, named=True)

    def list_warnings(self, version: Version, obj: Object, old: Object | None) -> list[str]:
        """Warn about forms of addresses, except those of the controllers, which are in canonical form."""
        warnings = [_DOMAINS] if old is None and obj["addressType"] == "FQDN" else []
        if (obj["metadata"].get("labels") or {}).get(_MANAGED_BY) in _CONTROLLERS:
            return warnings
        for position, endpoint in enumerate(each(obj.get("endpoints") or [])):
            for index, address in enumerate(each(endpoint.get("addresses") or [])):
                warnings += addresses.list_address_warnings(f"endpoints[{position}].addresses[{index}]", address)
        return warnings


def _validate_endpoint(endpoint: Object, address_type: str, path: str) -> field.Errors:
    addresses = endpoint.get("addresses") or []
    addresses_path = f"{path}.addresses"
    if not addresses:
        yield field.required(addresses_path, "must contain at least 1 address")
    elif len(addresses) > _MAX_ADDRESSES:
        yield field.too_many(addresses_path, len(addresses), _MAX_ADDRESSES)
    for index, address in enumerate(each(addresses)):
        if address_type == "FQDN":
            yield from _validate_domain(address, f"{addresses_path}[{index}]")
        elif address_type in _TYPES:
            yield from _slice_address(address, address_type, addresses_path, index)
    host, node = endpoint.get("hostname"), endpoint.get("nodeName")
    if node is not None:
        yield from field.invalid_details(f"{path}.nodeName", node, names.check_subdomain(node))
    if host is not None:
        yield from field.invalid_details(f"{path}.hostname", host, names.check_label_name(host))
    yield from _validate_hints(endpoint.get("hints") or {}, f"{path}.hints")


def _slice_address(address: str, address_type: str, path: str, index: int) -> field.Errors:
    item_path = f"{path}[{index}]"
    if not has("OneFaultOfAddresses"):
        yield from field.invalid_details(item_path, address, servicespec.find_external_faults(address))
        parsed = addresses.parse_address(address)
        if parsed is None or (parsed.version == 4) != (address_type == "IPv4"):
            yield field.invalid(item_path, address, f"must be a valid {address_type} address")
        return
    # IPv4 addresses may have the forms of older fields, IPv6 addresses only the canonical one
    check = addresses.find_address_faults if address_type == "IPv4" else addresses.find_canonical_faults
    faults = check(address)
    yield from field.invalid_details(item_path, address, faults)
    if faults:
        return
    parsed = addresses.parse_address(address)
    assert parsed is not None
    is_ipv4 = parsed.version == 4 or parsed.ipv4_mapped is not None
    if is_ipv4 != (address_type == "IPv4"):
        yield field.invalid(path, address, f"must be an {address_type} address")
    yield from field.invalid_details(item_path, address, servicespec.find_external_faults(address))


def _validate_domain(name: str, path: str) -> field.Errors:
    """Validate a domain of at least two segments."""
    if not name:
        yield field.required(path)
        return
    domain = name.removesuffix(".")
    if faults := names.check_subdomain(domain):
        yield field.invalid(path, domain, ",".join(faults))
    elif "." not in domain:
        yield field.invalid(path, domain, "should be a domain with at least two segments separated by dots")
    else:
        for segment in each(domain.split(".")):
            if faults := names.check_label_name(segment):
                yield field.invalid(path, segment, ",".join(faults))
                return


def _validate_hints(hints: Object, path: str) -> field.Errors:
    for name, rule in (("forZones", names.check_label_value), ("forNodes", names.check_subdomain)):
        hints_of_kind, seen = hints.get(name) or [], set[str]()
        if len(hints_of_kind) > _MAX_HINTS:
            yield field.too_many(f"{path}.{name}", len(hints_of_kind), _MAX_HINTS)
            return
        for index, hint in enumerate(each(hints_of_kind)):
            name_path, value = f"{path}.{name}[{index}].name", hint["name"]
            yield from checks.validate_unique(name_path, value, seen)
            yield from field.invalid_details(name_path, value, rule(value))


def _slice_ports(ports: Sequence[Object]) -> field.Errors:
    if len(ports) > _MAX_PORTS:
        yield field.too_many("ports", len(ports), _MAX_PORTS)
        return
    seen: set[str] = set()
    for index, port in enumerate(each(ports)):
        path, name = f"ports[{index}]", port.get("name") or ""
        if name:
            yield from field.invalid_details(f"{path}.name", name, names.check_label_name(name))
        yield from checks.validate_unique(f"{path}.name", Named(name), seen)
        yield from validate_protocols(port, path)


STRATEGY = EndpointSliceStrategy()
