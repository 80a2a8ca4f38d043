"""ReplicaSet. Source: Kubernetes' pkg/apis/apps (v1/defaults, validation) and pkg/registry/apps/replicaset."""

from __future__ import annotations

from typing import ClassVar

from podless.apis import podspec
from podless.apis.shared import checks, template
from podless.apis.shared.speced import ReplicasStrategy, validate_counts
from podless.kinds.kind import Version
from podless.kinds.strategy import Faults, ValidationCost
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object

COUNTS = (
    "replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration",
    "terminatingReplicas",
)  # fmt: skip
LIMITED_COUNTS = ("fullyLabeledReplicas", "readyReplicas", "availableReplicas")


class ReplicaSetStrategy(ReplicasStrategy):
    """Strategy of ReplicaSet."""

    blank: ClassVar[Object] = {"replicas": 0}
    checking = ValidationCost(once="SetsOnce")

    def fill_computed_defaults(self, version: Version, obj: Object) -> None:
        podspec.default_pod_template(obj["spec"]["template"])

    def validate_spec(self, spec: Object, old: Object | None) -> list[FieldError]:
        errors = checks.all_nonnegative(spec, "spec", ("replicas", "minReadySeconds"))
        # kube-apiserver's error text says "deployment"
        selector_errors, selector = template.validate_selector(
            spec, "invalid label selector", "empty selector is invalid for deployment"
        )
        errors += selector_errors
        if selector is not None:
            errors += template.validate_replica_template(selector, spec["template"], old, "ReplicaSet")
        return errors

    def validate_status(self, version: Version, obj: Object, old: Object) -> Faults:
        return validate_counts(obj["status"], COUNTS, LIMITED_COUNTS, "readyReplicas")


STRATEGY = ReplicaSetStrategy()
