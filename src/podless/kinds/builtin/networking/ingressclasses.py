"""IngressClass. Source: Kubernetes' pkg/apis/networking (v1/defaults, validation)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from podless.kinds.builtin import counts, references
from podless.kinds.builtin.speced import SpecStrategy
from podless.kinds.kind import Kind, Version
from podless.kinds.strategy import Object
from podless.kinds.types.networking import INGRESS_CLASS
from podless.meta import field, names
from podless.meta.field import FieldError

_MOST_CONTROLLER = 250  # bytes
_CLUSTER, _NAMESPACE = "Cluster", "Namespace"


class IngressClassStrategy(SpecStrategy):
    """Who sees to ingresses of the class."""

    rechecks = (1, 1)

    def default(self, version: Version, obj: Object) -> None:
        """Parameters are of the whole cluster."""
        parameters = obj["spec"].get("parameters")
        if parameters is not None and parameters.get("scope") is None:
            parameters["scope"] = _CLUSTER

    def prepare_create(self, version: Version, obj: Object) -> None:
        """There is no status."""

    def prepare_update(self, version: Version, obj: Object, old: Object) -> None:
        """There is no status."""

    def validate_create(self, kind: Kind, version: Version, obj: Object) -> Sequence[FieldError]:
        """Controller and parameters."""
        return _check(obj["spec"])

    def validate_update(
        self, kind: Kind, version: Version, obj: Object, old: Object, warnings: list[str]
    ) -> Sequence[FieldError]:
        """The same; the controller stays."""
        given, before = (one["spec"].get("controller") or "" for one in (obj, old))
        return [*counts.immutable("spec.controller", given, before), *_check(obj["spec"])]


def _check(spec: Object) -> list[FieldError]:
    controller, parameters = spec.get("controller") or "", spec.get("parameters")
    errors = []
    if len(controller.encode()) > _MOST_CONTROLLER:
        errors.append(field.too_long("spec.controller", _MOST_CONTROLLER))
    errors += references.domain_path(controller, "spec.controller")
    return errors if parameters is None else [*errors, *_parameters(parameters, "spec.parameters")]


def _parameters(parameters: Object, path: str) -> list[FieldError]:
    errors = references.local(parameters, path)
    scope: Any = parameters.get("scope")
    namespace: Any = parameters.get("namespace")
    if scope not in (_CLUSTER, _NAMESPACE):
        errors.append(field.not_supported(f"{path}.scope", scope, (_CLUSTER, _NAMESPACE)))
    elif scope == _NAMESPACE and namespace is None:
        errors.append(field.required(f"{path}.namespace", "`parameters.scope` is set to 'Namespace'"))
    elif scope == _NAMESPACE:
        errors += [field.invalid(f"{path}.namespace", namespace, text) for text in names.label(namespace)]
    elif namespace is not None:
        errors.append(field.forbidden(f"{path}.namespace", "`parameters.scope` is set to 'Cluster'"))
    return errors


STRUCT = INGRESS_CLASS
STRATEGY = IngressClassStrategy()
