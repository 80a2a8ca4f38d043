"""IngressClass. Source: Kubernetes' pkg/apis/networking (v1/defaults, validation)."""

from __future__ import annotations

from podless.apis.shared import checks
from podless.apis.shared.typed import TypedStrategy
from podless.kinds.kind import Version
from podless.meta import field, names
from podless.runtime.jsonobject import Object

_MAX_CONTROLLER = 250  # bytes


class IngressClassStrategy(TypedStrategy):
    """Strategy of IngressClass."""

    has_generation = True

    def validate(self, version: Version, obj: Object, old: Object | None) -> field.Errors:
        spec, before = obj["spec"], (old or obj)["spec"]
        controller, parameters = spec.get("controller") or "", spec.get("parameters")
        yield from checks.validate_immutable("spec.controller", controller, before.get("controller") or "")
        if len(controller.encode()) > _MAX_CONTROLLER:
            yield field.too_long("spec.controller", _MAX_CONTROLLER)
        yield from checks.validate_domain_path(controller, "spec.controller")
        if parameters is not None:
            yield from _validate_parameters(parameters)


def _validate_parameters(parameters: Object) -> field.Errors:
    yield from checks.validate_local_reference(parameters, "spec.parameters")
    scope, namespace, path = parameters.get("scope"), parameters.get("namespace"), "spec.parameters.namespace"
    if scope not in ("Cluster", "Namespace"):
        yield field.not_supported("spec.parameters.scope", scope, ("Cluster", "Namespace"), named=False)
    elif scope == "Cluster" and namespace is not None:
        yield field.forbidden(path, "`parameters.scope` is set to 'Cluster'")
    elif scope == "Namespace" and namespace is None:
        yield field.required(path, "`parameters.scope` is set to 'Namespace'")
    elif namespace is not None:
        yield from field.invalid_details(path, namespace, names.check_label_name(namespace))


STRATEGY = IngressClassStrategy()
