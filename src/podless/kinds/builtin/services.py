"""Service: a name for something that is elsewhere.

There is no network behind this server, so it has no addresses to give away: Services are names for other hosts
(ExternalName), which webhooks may be behind, or headless. Source: Kubernetes' pkg/apis/core/validation.
"""

from __future__ import annotations

from collections.abc import Sequence

from podless.kinds.builtin.typed import TypedStrategy
from podless.kinds.kind import Kind, Version
from podless.kinds.strategy import Object
from podless.kinds.types.services import SERVICE
from podless.meta import field, names
from podless.meta.field import FieldError

EXTERNAL = "ExternalName"
_HEADLESS = "None"
_TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_PROTOCOLS = ("SCTP", "TCP", "UDP")
_AFFINITIES = ("ClientIP", "None")
_NO_ADDRESSES = (
    "podless has no network and gives no addresses away: only services of the type ExternalName, and those with "
    "clusterIP None, are served"
)


class ServiceStrategy(TypedStrategy):
    """What kind of name it is, and the ports behind it."""

    def name_errors(self, name: str, prefix: bool) -> list[str]:
        """Services are named like hosts."""
        return names.label_1035_prefix(name) if prefix else names.label_1035(name)

    def default(self, version: Version, obj: Object) -> None:
        """The type, the affinity, and what a port leaves out."""
        spec = obj["spec"]
        spec.setdefault("sessionAffinity", "None")
        spec.setdefault("type", "ClusterIP")
        for port in spec.get("ports") or ():
            port.setdefault("protocol", "TCP")
            if not port.get("targetPort"):
                port["targetPort"] = port["port"]
        if spec["type"] != EXTERNAL:
            spec.setdefault("internalTrafficPolicy", "Cluster")

    def prepare_create(self, version: Version, obj: Object) -> None:
        """The status is the server's; a headless service says of which families it is."""
        obj["status"] = {"loadBalancer": {}}
        self._complete(obj["spec"])

    def prepare_update(self, version: Version, obj: Object, old: Object) -> None:
        """The status has its own endpoint."""
        obj["status"] = old["status"]
        self._complete(obj["spec"])

    def prepare_status(self, version: Version, obj: Object, old: Object) -> None:
        """Nothing but the status changes."""
        obj["spec"] = old["spec"]

    def _complete(self, spec: Object) -> None:
        if spec.get("clusterIP") != _HEADLESS or spec["type"] != "ClusterIP":
            return
        both = not spec.get("selector")
        spec.setdefault("clusterIPs", [_HEADLESS])
        spec.setdefault("ipFamilies", ["IPv4", "IPv6"] if both else ["IPv4"])
        spec.setdefault("ipFamilyPolicy", "RequireDualStack" if both else "SingleStack")

    def validate_create(self, kind: Kind, version: Version, obj: Object) -> Sequence[FieldError]:
        """Type, name or address, ports and selector."""
        spec = obj["spec"]
        errors = _of_type(spec)
        errors += _ports(spec.get("ports") or [])
        for key, value in (spec.get("selector") or {}).items():
            errors += [field.invalid("spec.selector", key, text) for text in names.qualified_name(key)]
            errors += [field.invalid("spec.selector", value, text) for text in names.label_value(value)]
        if spec["sessionAffinity"] not in _AFFINITIES:
            errors.append(field.not_supported("spec.sessionAffinity", spec["sessionAffinity"], _AFFINITIES))
        return errors

    def validate_update(
        self, kind: Kind, version: Version, obj: Object, old: Object, warnings: list[str]
    ) -> Sequence[FieldError]:
        """As a new one."""
        return self.validate_create(kind, version, obj)


def _of_type(spec: Object) -> list[FieldError]:
    kind, address = spec["type"], spec.get("clusterIP") or ""
    if kind not in _TYPES:
        return [field.not_supported("spec.type", kind, _TYPES)]
    if kind == EXTERNAL:
        errors = []
        if address:
            errors.append(field.forbidden("spec.clusterIP", "may not be set for ExternalName services"))
        host = (spec.get("externalName") or "").removesuffix(".")
        if not host:
            return [*errors, field.required("spec.externalName")]
        return [*errors, *(field.invalid("spec.externalName", host, text) for text in names.subdomain(host))]
    if kind != "ClusterIP" or address != _HEADLESS:
        return [field.forbidden("spec.clusterIP" if kind == "ClusterIP" else "spec.type", _NO_ADDRESSES)]
    if spec["clusterIPs"] != [_HEADLESS]:
        return [field.invalid("spec.clusterIPs", spec["clusterIPs"], "must be [None] for headless services")]
    return []


def _ports(ports: Sequence[Object]) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for place, port in enumerate(ports):
        path, name = f"spec.ports[{place}]", port.get("name") or ""
        if name:
            errors += [field.invalid(f"{path}.name", name, text) for text in names.label(name)]
            if name in seen:
                errors.append(field.duplicate(f"{path}.name", name))
            seen.add(name)
        elif len(ports) > 1:
            errors.append(field.required(f"{path}.name"))
        if not 0 < port["port"] < 65536:
            errors.append(field.invalid(f"{path}.port", port["port"], "must be between 1 and 65535, inclusive"))
        if port["protocol"] not in _PROTOCOLS:
            errors.append(field.not_supported(f"{path}.protocol", port["protocol"], _PROTOCOLS))
    return errors


SERVICES = Kind(
    group="",
    plural="services",
    kind="Service",
    singular="service",
    list_kind="ServiceList",
    namespaced=True,
    versions=(Version("v1", status=True),),
    storage_version="v1",
    strategy=ServiceStrategy(),
    short_names=("svc",),
    categories=("all",),
    struct=SERVICE,
    verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
)
