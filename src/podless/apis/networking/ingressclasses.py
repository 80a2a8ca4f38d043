"""IngressClass. Source: Kubernetes' pkg/apis/networking (v1/defaults, validation)."""

from __future__ import annotations

from typing import Any

from podless.apis.shared import checks
from podless.apis.shared.checks import validate_immutable
from podless.apis.shared.typed import SpecStrategy
from podless.kinds.kind import Version
from podless.kinds.strategy import Faults
from podless.meta import field, names
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object

_MAX_CONTROLLER = 250  # bytes
_CLUSTER, _NAMESPACE = "Cluster", "Namespace"


class IngressClassStrategy(SpecStrategy):
    """Strategy of IngressClass."""

    def validate_create(self, version: Version, obj: Object) -> Faults:
        return _validate_spec(obj["spec"])

    def validate_update(self, version: Version, obj: Object, old: Object) -> Faults:
        controller, before = (state["spec"].get("controller") or "" for state in (obj, old))
        return [*validate_immutable("spec.controller", controller, before), *_validate_spec(obj["spec"])]


def _validate_spec(spec: Object) -> list[FieldError]:
    controller, parameters = spec.get("controller") or "", spec.get("parameters")
    errors = []
    if len(controller.encode()) > _MAX_CONTROLLER:
        errors.append(field.too_long("spec.controller", _MAX_CONTROLLER))
    errors += checks.domain_path(controller, "spec.controller")
    return errors if parameters is None else [*errors, *_validate_parameters(parameters, "spec.parameters")]


def _validate_parameters(parameters: Object, path: str) -> field.Errors:
    yield from checks.validate_local_reference(parameters, path)
    scope: Any = parameters.get("scope")
    namespace: Any = parameters.get("namespace")
    if scope not in (_CLUSTER, _NAMESPACE):
        yield field.not_supported(f"{path}.scope", scope, (_CLUSTER, _NAMESPACE), named=False)
    elif scope == _NAMESPACE and namespace is None:
        yield field.required(f"{path}.namespace", "`parameters.scope` is set to 'Namespace'")
    elif scope == _NAMESPACE:
        yield from field.invalid_details(f"{path}.namespace", namespace, names.check_label_name(namespace))
    elif namespace is not None:
        yield field.forbidden(f"{path}.namespace", "`parameters.scope` is set to 'Cluster'")


STRATEGY = IngressClassStrategy()
