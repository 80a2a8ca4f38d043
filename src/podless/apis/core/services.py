"""Strategy of Service.

podless allocates addresses and ports as a cluster does (serviceallocation.py), although there is no network. Source:
Kubernetes' pkg/registry/core/service, pkg/api/service and pkg/apis/core/v1/defaults.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from podless.apis.core import ipfamilies, servicespec
from podless.apis.core.servicespec import EXTERNAL, HEADLESS, HINTS, OLD_HINTS, is_headless
from podless.apis.shared.typed import TypedStrategy
from podless.kinds.kind import Kind, Version
from podless.kinds.strategy import MetadataPolicy, Strategy
from podless.meta import addresses, field, names
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import has

_AFFINITY_SECONDS = 10800
_ADDRESSED = ("ClusterIP", "NodePort", "LoadBalancer")
_METADATA, _METADATA_TWICE = MetadataPolicy(on_update=(0, 1)), MetadataPolicy(on_update=(1, 1))
_SELECTS = frozenset({"spec.clusterIP", "spec.type"})


def _check_name(prefix: bool, name: str) -> list[str]:
    errors = names.LABELS_1035[prefix](name)
    return names.LABELS[prefix](name) if errors and has("RelaxedServiceNameValidation") else errors


class ServiceStrategy(TypedStrategy):
    """Strategy of Service."""

    naming = (partial(_check_name, False), partial(_check_name, True))
    allow_create_on_update = True

    @property
    def metadata(self) -> MetadataPolicy:  # type: ignore[override]
        """Return the rules for metadata: in updates, older releases repeat its errors."""
        return _METADATA if has("ServicesOnce") else _METADATA_TWICE

    @property
    def selects(self) -> frozenset[str]:  # type: ignore[override]
        """The fields for field selectors."""
        return _SELECTS if has("ServiceSelectors") else frozenset()

    def allow_create_on_status(self, verb: str) -> bool:
        return True  # kube-apiserver does not reject it

    def for_subresource(self, subresource: str) -> Strategy[Kind]:
        """Give a Service that is created through its status no IP families and addresses."""
        return _STATUS if subresource == "status" else self

    def fill_computed_defaults(self, version: Version, obj: Object) -> None:
        spec = obj["spec"]
        if spec["sessionAffinity"] == "None":
            spec.pop("sessionAffinityConfig", None)
        elif spec["sessionAffinity"] == "ClientIP":
            config = spec.get("sessionAffinityConfig") or {}
            if (config.get("clientIP") or {}).get("timeoutSeconds") is None:
                spec["sessionAffinityConfig"] = {"clientIP": {"timeoutSeconds": _AFFINITY_SECONDS}}
        for port in each(spec.get("ports") or ()):
            if not port.get("targetPort"):
                port["targetPort"] = port["port"]
        if servicespec.is_externally_accessible(spec) and not spec.get("externalTrafficPolicy"):
            spec["externalTrafficPolicy"] = "Cluster"
        if spec["type"] in _ADDRESSED and spec.get("internalTrafficPolicy") is None:
            spec["internalTrafficPolicy"] = "Cluster"
        if spec["type"] == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts") is None:
            spec["allocateLoadBalancerNodePorts"] = True
        for address in each(_assigned_addresses(obj) if spec["type"] == "LoadBalancer" else ()):
            if address.get("ip") and address.get("ipMode") is None:
                address["ipMode"] = "VIP"

    def prepare_create(self, version: Version, obj: Object) -> None:
        """Set the IP families. Raise Invalid."""
        obj["status"] = {"loadBalancer": {}}
        spec = obj["spec"]
        if spec.get("clusterIP") and not spec.get("clusterIPs"):
            spec["clusterIPs"] = [spec["clusterIP"]]
        ipfamilies.choose_families(obj, None)

    def prepare_update(self, version: Version, obj: Object, old: Object) -> None:
        """Keep families and addresses that still fit. Raise Invalid."""
        obj["status"] = old["status"]
        ipfamilies.adopt_allocated(obj["spec"], old["spec"])
        ipfamilies.choose_families(obj, old)
        ipfamilies.drop_unused(obj["spec"], old["spec"])
        if obj["spec"]["type"] != "LoadBalancer":
            obj["status"] = {**obj["status"], "loadBalancer": {}}

    def make_stored(self, kind: Kind, obj: Object) -> Object:
        return super().make_stored(kind, self.round_trip(obj))

    def round_trip(self, obj: Object) -> Object:
        """Drop internalTrafficPolicy of a Service of type ExternalName."""
        if obj["spec"]["type"] == EXTERNAL and "internalTrafficPolicy" in obj["spec"]:
            spec = {name: value for name, value in obj["spec"].items() if name != "internalTrafficPolicy"}
            return {**obj, "spec": spec}
        return obj

    def validate(self, version: Version, obj: Object, old: Object | None) -> field.Errors:
        if old is not None:
            yield from ipfamilies.validate_kept(obj["spec"], old["spec"])
            yield from servicespec.validate_changed_class(obj["spec"], old["spec"])
            yield from ipfamilies.validate_kept_health_check(obj["spec"], old["spec"])
        yield from servicespec.validate_service_spec(obj, old)

    def validate_status(self, version: Version, obj: Object, old: Object) -> field.Errors:
        if obj["spec"]["type"] == "LoadBalancer":
            yield from servicespec.validate_load_balancer_status(obj["status"], old["status"])
        elif _assigned_addresses(obj):
            reason = "may only be used when `spec.type` is 'LoadBalancer'"
            yield field.forbidden("status.loadBalancer.ingress", reason)

    def list_status_warnings(self, obj: Object) -> list[str]:
        path = "status.loadBalancer.ingress"
        listed = [address.get("ip") or "" for address in _assigned_addresses(obj)]
        return _warn_of_each(listed, path, addresses.list_address_warnings)

    def read_selectable_fields(self, version: Version, obj: Object) -> dict[str, str]:
        return {f"spec.{name}": obj["spec"].get(name) or "" for name in ("clusterIP", "type")}

    def list_warnings(self, version: Version, obj: Object, old: Object | None) -> list[str]:
        spec, warnings = obj["spec"], []
        if OLD_HINTS in (obj["metadata"].get("annotations") or {}):
            warnings.append(f"annotation {OLD_HINTS} is deprecated, please use {HINTS} instead")
        if spec["type"] != EXTERNAL and spec.get("clusterIP") not in (None, "", HEADLESS):
            warnings += _warn_of_addresses(spec, "clusterIPs")
        ignored = {
            "loadBalancerIP": spec.get("loadBalancerIP"),
            "externalIPs": spec.get("externalIPs"),
            "SessionAffinity": spec["sessionAffinity"] != "None",
        }
        if is_headless(spec) and has("HeadlessWarnings"):
            warnings += [f"spec.{name} is ignored for headless services" for name, value in ignored.items() if value]
        warnings += _warn_of_addresses(spec, "externalIPs")
        external = bool(spec.get("externalIPs"))
        if external and not is_headless(spec) and spec["type"] != EXTERNAL and has("ExternalIPsDeprecated"):
            warnings.append("spec.externalIPs is deprecated and may no longer be implemented in some clusters")
        if spec.get("loadBalancerIP"):
            warnings += addresses.list_service_address_warnings("spec.loadBalancerIP", spec["loadBalancerIP"])
        ranges = spec.get("loadBalancerSourceRanges") or []
        warnings += _warn_of_each(ranges, "spec.loadBalancerSourceRanges", addresses.list_range_warnings)
        if external and spec["type"] == EXTERNAL:
            warnings.append('spec.externalIPs is ignored when spec.type is "ExternalName"')
        if spec.get("externalName") and spec["type"] != EXTERNAL:
            warnings.append('spec.externalName is ignored when spec.type is not "ExternalName"')
        if spec.get("trafficDistribution") == "PreferClose" and has("PreferCloseDeprecated"):
            warnings.append('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"')
        return warnings


class _StatusStrategy(ServiceStrategy):
    """Strategy of the status subresource."""

    def prepare_create(self, version: Version, obj: Object) -> None:
        obj["status"] = {"loadBalancer": {}}


_STATUS = _StatusStrategy()


def _warn_of_addresses(spec: Object, name: str) -> list[str]:
    return _warn_of_each(spec.get(name) or [], f"spec.{name}", addresses.list_service_address_warnings)


def _warn_of_each(texts: list[str], path: str, warn: Callable[[str, str], list[str]]) -> list[str]:
    """Return the warnings about the addresses or ranges in a list."""
    return [warning for index, text in enumerate(each(texts)) for warning in warn(f"{path}[{index}]", text)]


def _assigned_addresses(obj: Object) -> list[Object]:
    """Return the load balancer's ingress addresses."""
    ingress: list[Object] = ((obj.get("status") or {}).get("loadBalancer") or {}).get("ingress") or []
    return ingress


STRATEGY = ServiceStrategy()
