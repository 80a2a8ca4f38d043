"""Strategy of Endpoints. Source: Kubernetes' pkg/apis/core/validation."""

from __future__ import annotations

from collections.abc import Iterator

from podless.apis.core import servicespec
from podless.apis.shared import checks
from podless.apis.shared.typed import TypedStrategy
from podless.kinds.kind import Version
from podless.meta import addresses, field, names
from podless.runtime.jsonobject import Object

_MANAGED_BY, _CONTROLLER = "endpoints.kubernetes.io/managed-by", "endpoint-controller"
PROTOCOLS = ("SCTP", "TCP", "UDP")


class EndpointsStrategy(TypedStrategy):
    """Strategy of Endpoints."""

    rearranged = False
    allow_create_on_update = True

    def validate(self, version: Version, obj: Object, old: Object | None) -> field.Errors:
        if old is not None and obj.get("subsets") == old.get("subsets"):
            return
        for subset, path in checks.list_items(obj, "subsets", ""):
            if not subset.get("addresses") and not subset.get("notReadyAddresses"):
                yield field.required(path, "must specify `addresses` or `notReadyAddresses`")
            for address, at in _list_addresses(subset, path):
                yield from _validate_address(address, at)
            for port, at in checks.list_items(subset, "ports", path):
                yield from _validate_port(port, at, named=len(subset["ports"]) > 1)

    def list_warnings(self, version: Version, obj: Object, old: Object | None) -> list[str]:
        """Warn about forms of addresses, except those of the controller, which are in canonical form."""
        if (obj["metadata"].get("labels") or {}).get(_MANAGED_BY) == _CONTROLLER:
            return []
        return [
            text
            for subset, path in checks.list_items(obj, "subsets", "")
            for address, at in _list_addresses(subset, path)
            for text in addresses.list_address_warnings(f"{at}.ip", address["ip"])
        ]


def _list_addresses(subset: Object, path: str) -> Iterator[tuple[Object, str]]:
    yield from checks.list_items(subset, "addresses", path)
    yield from checks.list_items(subset, "notReadyAddresses", path)


def _validate_address(address: Object, path: str) -> field.Errors:
    ip = address["ip"]
    yield from field.invalid_details(f"{path}.ip", ip, addresses.find_address_faults(ip))
    yield from checks.validate_string(address, path, "hostname", names.check_label_name)
    yield from checks.validate_pointer(address, path, "nodeName", names.check_subdomain)
    yield from field.invalid_details(f"{path}.ip", ip, servicespec.find_external_faults(ip))


def _validate_port(port: Object, path: str, *, named: bool) -> field.Errors:
    yield from checks.validate_string(port, path, "name", names.check_label_name)
    if named:
        yield from checks.require_fields(port, path, "name")
    yield from checks.validate_port_number(f"{path}.port", port["port"])
    yield from validate_protocols(port, path)


def validate_protocols(port: Object, path: str) -> field.Errors:
    """Validate protocol and appProtocol of a port."""
    if port.get("protocol") is None:
        yield field.required(f"{path}.protocol")
    yield from field.one_of(f"{path}.protocol", port.get("protocol"), PROTOCOLS)
    yield from checks.validate_pointer(port, path, "appProtocol", names.check_qualified_name)


STRATEGY = EndpointsStrategy()
