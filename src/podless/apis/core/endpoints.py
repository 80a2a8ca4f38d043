"""Strategy of Endpoints. Source: Kubernetes' pkg/apis/core/validation."""

from __future__ import annotations

from podless.apis.core import servicespec
from podless.apis.shared import checks
from podless.apis.shared.typed import TypedStrategy
from podless.kinds.kind import Version
from podless.kinds.strategy import Faults
from podless.meta import addresses, field, names
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each

_MANAGED_BY, _CONTROLLER = "endpoints.kubernetes.io/managed-by", "endpoint-controller"
PROTOCOLS = ("SCTP", "TCP", "UDP")


class EndpointsStrategy(TypedStrategy):
    """Strategy of Endpoints."""

    allow_create_on_update = True

    def validate_create(self, version: Version, obj: Object) -> Faults:
        errors: list[FieldError] = []
        for position, subset in enumerate(each(obj.get("subsets") or [])):
            path = f"subsets[{position}]"
            if not subset.get("addresses") and not subset.get("notReadyAddresses"):
                errors.append(field.required(path, "must specify `addresses` or `notReadyAddresses`"))
            for name in ("addresses", "notReadyAddresses"):
                for index, address in enumerate(each(subset.get(name) or [])):
                    errors += _validate_address(address, f"{path}.{name}[{index}]")
            ports = subset.get("ports") or []
            for index, port in enumerate(each(ports)):
                errors += _subset_port(port, f"{path}.ports[{index}]", named=len(ports) > 1)
        return errors

    def validate_update(self, version: Version, obj: Object, old: Object) -> Faults:
        if obj.get("subsets") == old.get("subsets"):
            return ()
        return self.validate_create(version, obj)

    def list_warnings(self, version: Version, obj: Object, old: Object | None) -> list[str]:
        """Warn about forms of addresses, except those of the controller, which are in canonical form."""
        if (obj["metadata"].get("labels") or {}).get(_MANAGED_BY) == _CONTROLLER:
            return []
        return [
            text
            for position, subset in enumerate(each(obj.get("subsets") or ()))
            for name in ("addresses", "notReadyAddresses")
            for index, address in enumerate(each(subset.get(name) or ()))
            for text in addresses.list_address_warnings(f"subsets[{position}].{name}[{index}].ip", address["ip"])
        ]


def _validate_address(address: Object, path: str) -> field.Errors:
    ip, host, node = address["ip"], address.get("hostname"), address.get("nodeName")
    yield from field.invalid_details(f"{path}.ip", ip, addresses.find_address_faults(ip))
    if host:
        yield from field.invalid_details(f"{path}.hostname", host, names.check_label_name(host))
    if node is not None:
        yield from field.invalid_details(f"{path}.nodeName", node, names.check_subdomain(node))
    yield from field.invalid_details(f"{path}.ip", ip, servicespec.validate_external_address(ip))


def _subset_port(port: Object, path: str, *, named: bool) -> field.Errors:
    name, number, protocol, application = port.get("name"), port["port"], port.get("protocol"), port.get("appProtocol")
    if name:
        yield from field.invalid_details(f"{path}.name", name, names.check_label_name(name))
    elif named:
        yield field.required(f"{path}.name")
    yield from checks.validate_port_number(f"{path}.port", number)
    yield from validate_protocols(protocol, application, path)


def validate_protocols(protocol: str | None, application: str | None, path: str) -> field.Errors:
    """Validate protocol and appProtocol of a port."""
    if protocol is None:
        yield field.required(f"{path}.protocol")
    elif protocol not in PROTOCOLS:
        yield field.not_supported(f"{path}.protocol", protocol, PROTOCOLS)
    if application is not None:
        yield from field.invalid_details(f"{path}.appProtocol", application, names.check_qualified_name(application))


STRATEGY = EndpointsStrategy()
