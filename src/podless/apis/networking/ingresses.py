"""Ingress. Source: Kubernetes' pkg/apis/networking/validation and pkg/registry/networking/ingress."""

from __future__ import annotations

from typing import ClassVar

from podless.apis.shared import checks
from podless.apis.shared.typed import TypedStrategy
from podless.kinds.kind import Version
from podless.meta import addresses, field, names
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import has
from podless.structs import gostructs

CLASS = "kubernetes.io/ingress.class"
_DEPRECATED = f"annotation \"{CLASS}\" is deprecated, please use 'spec.ingressClassName' instead"
_PATH_TYPES = ("Exact", "ImplementationSpecific", "Prefix")
_BAD_PARTS, _BAD_ENDS = ("//", "/./", "/../", "%2f", "%2F"), ("/..", "/.")
_NO_NAME = "must be a DNS name, not an IP address"


class IngressStrategy(TypedStrategy):
    """Strategy of Ingress."""

    has_generation = True
    blank: ClassVar[Object] = {"loadBalancer": {}}

    def complete(self, obj: Object, raw: Object) -> None:
        """Keep an empty list of rules, because the error shows it."""
        if (raw.get("spec") or {}).get("rules") == [] and obj["spec"].get("defaultBackend") is None:
            obj["spec"]["rules"] = []

    def validate(self, version: Version, obj: Object, old: Object | None) -> field.Errors:
        spec, named = obj["spec"], (obj["metadata"].get("annotations") or {}).get(CLASS)
        yield from _validate_spec(spec, old["spec"] if old is not None else {})
        if old is None and named is not None and spec.get("ingressClassName") not in (None, named):
            text = "must match `ingressClassName` when both are specified"
            yield field.invalid(f"annotations.{CLASS}", named, text)

    def validate_status(self, version: Version, obj: Object, old: Object) -> field.Errors:
        for index, balancer in enumerate(each((obj["status"].get("loadBalancer") or {}).get("ingress") or [])):
            path, ip, host = f"status.loadBalancer.ingress[{index}]", balancer.get("ip"), balancer.get("hostname")
            if ip:
                yield from field.invalid_details(f"{path}.ip", ip, addresses.find_address_faults(ip))
            if host:
                yield from field.invalid_details(f"{path}.hostname", host, names.check_subdomain(host))
                if addresses.parse_address(host) is not None:
                    yield field.invalid(f"{path}.hostname", host, _NO_NAME)

    def list_warnings(self, version: Version, obj: Object, old: Object | None) -> list[str]:
        named = CLASS in (obj["metadata"].get("annotations") or {})
        return [_DEPRECATED] if old is None and named and obj["spec"].get("ingressClassName") is None else []


def _validate_spec(spec: Object, old: Object) -> field.Errors:
    backend, rules = spec.get("defaultBackend"), spec.get("rules") or []
    if not rules and backend is None:
        text = "either `defaultBackend` or `rules` must be specified"
        yield field.invalid("spec", gostructs.format_structs("networking/v1.IngressRule", spec.get("rules")), text)
    if backend is not None:
        yield from _validate_backend(backend, "spec.defaultBackend")
    for index, rule in enumerate(each(rules)):
        yield from _validate_rule(rule, f"spec.rules[{index}]")
    lax = any(_find_secret_faults(entry) for entry in each(old.get("tls") or ()))
    for index, entry in enumerate(each(spec.get("tls") or ())):
        for number, host in enumerate(each(entry.get("hosts") or ())):
            yield from _validate_host(f"spec.tls[{index}].hosts[{number}]", host)
        for text in each([] if lax else _find_secret_faults(entry)):
            yield field.invalid(f"spec.tls[{index}].secretName", entry["secretName"], text)
    name = spec.get("ingressClassName")
    if name is not None:
        yield from field.invalid_details("spec.ingressClassName", name, names.check_subdomain(name))


def _find_secret_faults(entry: Object) -> list[str]:
    """Return the faults of the secretName of a TLS entry."""
    name = entry.get("secretName")
    return names.check_subdomain(name) if name else []


def _validate_host(path: str, host: str) -> list[FieldError]:
    check = names.check_wildcard_subdomain if "*" in host else names.check_subdomain
    return field.invalid_details(path, host, check(host))


def _validate_rule(rule: Object, path: str) -> field.Errors:
    host = rule.get("host") or ""
    if host:
        if addresses.parse_address(host) is not None:
            yield field.invalid(f"{path}.host", host, _NO_NAME)
        yield from _validate_host(f"{path}.host", host)
    http = rule.get("http")
    if http is None:
        return
    if not http.get("paths"):
        yield field.required(f"{path}.http.paths")
    for index, entry in enumerate(each(http.get("paths") or ())):
        yield from _validate_path(entry, f"{path}.http.paths[{index}]")


def _validate_path(http_path: Object, path: str) -> field.Errors:
    kind, text = http_path.get("pathType"), http_path.get("path") or ""
    at = f"{path}.path"
    if kind is None:
        yield field.required(f"{path}.pathType", "pathType must be specified")
        return
    if kind not in _PATH_TYPES:
        yield field.not_supported(f"{path}.pathType", kind, _PATH_TYPES)
    elif not text.startswith("/") and (text or kind != "ImplementationSpecific"):
        yield field.invalid(at, text, "must be an absolute path")
    if kind in ("Exact", "Prefix"):
        yield from (field.invalid(at, text, f"must not contain '{part}'") for part in _BAD_PARTS if part in text)
        yield from (field.invalid(at, text, f"cannot end with '{end}'") for end in _BAD_ENDS if text.endswith(end))
    yield from _validate_backend(http_path.get("backend") or {}, f"{path}.backend")


def _validate_backend(backend: Object, path: str) -> field.Errors:
    resource, service = backend.get("resource"), backend.get("service")
    if resource is not None and service is not None:
        yield field.invalid(path, "", "cannot set both resource and service backends")
    elif resource is not None:
        yield from checks.validate_local_reference(resource, f"{path}.resource")
    elif service is not None:
        yield from _validate_service(service, path)
    else:
        yield field.invalid(path, "", "resource or service backend is required")


def _validate_service(service: Object, path: str) -> field.Errors:
    port = service.get("port") or {}
    label = names.check_label_name if has("RelaxedServiceNameValidation") else names.check_label_1035
    yield from checks.validate_name(f"{path}.service.name", service.get("name"), label)
    named, number = port.get("name") or "", port.get("number") or 0
    if named and number:
        yield field.invalid(path, "", "cannot set both port name & port number")
    elif named:
        yield from field.invalid_details(f"{path}.service.port.name", named, names.check_port_name(named))
    elif not number:
        yield field.required(path, "port name or number is required")
    else:
        yield from checks.validate_port_number(f"{path}.service.port.number", number)


STRATEGY = IngressStrategy()
