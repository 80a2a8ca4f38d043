"""NetworkPolicy. Source: Kubernetes' pkg/apis/networking (v1/defaults, validation)."""

from __future__ import annotations

from collections.abc import Iterator

from podless.apis.shared import checks
from podless.apis.shared.emptyfields import EmptyFieldsStrategy
from podless.kinds.kind import Version
from podless.kinds.strategy import MetadataPolicy, ValidationCost
from podless.meta import addresses, field, names, validation
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each

_PROTOCOLS = ("TCP", "UDP", "SCTP")
_TYPES = ("Ingress", "Egress")
# the field of a rule's peers, by direction
_SIDES = (("ingress", "from"), ("egress", "to"))
_SELECTED = ("matchLabels", "matchExpressions", "values")


class NetworkPolicyStrategy(EmptyFieldsStrategy):
    """Strategy of NetworkPolicy."""

    checking = ValidationCost(once="NetworkPoliciesOnce")
    metadata = MetadataPolicy(on_update=(0, 1))
    empties = frozenset({"ingress", "egress", "from", "to", "ports", "except", *_SELECTED})

    def fill_computed_defaults(self, version: Version, obj: Object) -> None:
        spec = obj["spec"]
        if not spec.get("policyTypes"):
            spec["policyTypes"] = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]

    def validate(self, version: Version, obj: Object, old: Object | None) -> field.Errors:
        spec = obj["spec"]
        yield from validation.validate_selector(spec.get("podSelector") or {}, "spec.podSelector")
        for side, peer_field in _SIDES:
            for number, rule in enumerate(each(spec.get(side) or ())):
                path = f"spec.{side}[{number}]"
                for index, port in enumerate(each(rule.get("ports") or ())):
                    yield from _validate_port(port, f"{path}.ports[{index}]")
                for index, peer in enumerate(each(rule.get(peer_field) or ())):
                    yield from _validate_peer(peer, f"{path}.{peer_field}[{index}]")
        types = spec.get("policyTypes") or []
        if len(types) > len(_TYPES):
            yield field.invalid("spec.policyTypes", types, "may not specify more than two policyTypes")
            return
        for index, kind in enumerate(each(types)):
            yield from field.one_of(f"spec.policyTypes[{index}]", kind, _TYPES)

    def list_warnings(self, version: Version, obj: Object, old: Object | None) -> list[str]:
        warnings = []
        for path, peer in _list_peers(obj["spec"]):
            block = peer.get("ipBlock") or {}
            if block.get("cidr"):
                warnings += addresses.list_range_warnings(f"{path}.ipBlock.cidr", block["cidr"])
            for index, text in enumerate(each(block.get("except") or ())):
                warnings += addresses.list_range_warnings(f"{path}.ipBlock.except[{index}]", text)
        return warnings


def _list_peers(spec: Object) -> Iterator[tuple[str, Object]]:
    for side, peer_field in _SIDES:
        for number, rule in enumerate(each(spec.get(side) or ())):
            for index, peer in enumerate(each(rule.get(peer_field) or ())):
                yield f"spec.{side}[{number}].{peer_field}[{index}]", peer


def _validate_port(port: Object, path: str) -> field.Errors:
    protocol, number, end = port.get("protocol"), port.get("port"), port.get("endPort")
    yield from field.one_of(f"{path}.protocol", protocol, _PROTOCOLS)
    if number is None:
        if end is not None:
            yield field.invalid(f"{path}.endPort", end, "may not be specified when `port` is not specified")
        return
    if isinstance(number, str):
        if end is not None:
            yield field.invalid(f"{path}.endPort", end, "may not be specified when `port` is non-numeric")
        yield from field.invalid_details(f"{path}.port", number, names.check_port_name(number))
        return
    yield from checks.validate_port_number(f"{path}.port", number)
    if end is not None and end < number:
        yield field.invalid(f"{path}.endPort", number, "must be greater than or equal to `port`")
    if end is not None:
        yield from checks.validate_port_number(f"{path}.endPort", end)


def _validate_peer(peer: Object, path: str) -> field.Errors:
    set_fields = [name for name in ("podSelector", "namespaceSelector", "ipBlock") if peer.get(name) is not None]
    for name in each(set_fields):
        if name == "ipBlock":
            yield from _validate_ip_block(peer[name], f"{path}.ipBlock")
        else:
            yield from validation.validate_selector(peer[name], f"{path}.{name}")
    if not set_fields:
        yield field.required(path, "must specify a peer")
    elif len(set_fields) > 1 and "ipBlock" in set_fields:
        yield field.forbidden(path, "may not specify both ipBlock and another peer")


def _validate_ip_block(block: Object, path: str) -> field.Errors:
    text = block.get("cidr") or ""
    if not text:
        yield field.required(f"{path}.cidr")
        return
    yield from field.invalid_details(f"{path}.cidr", text, addresses.find_range_faults(text))
    network = addresses.parse_range(text)
    if network is None:
        return
    for index, excluded in enumerate(each(block.get("except") or ())):
        item_path = f"{path}.except[{index}]"
        yield from field.invalid_details(item_path, excluded, addresses.find_range_faults(excluded))
        subnet = addresses.parse_range(excluded)
        if subnet is None:
            continue
        inside = subnet.version == network.version and subnet.network_address in network
        if not inside or network.prefixlen >= subnet.prefixlen:
            yield field.invalid(item_path, excluded, "must be a strict subset of `cidr`")


STRATEGY = NetworkPolicyStrategy()
