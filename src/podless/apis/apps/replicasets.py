"""ReplicaSet. Source: Kubernetes' pkg/apis/apps (v1/defaults, validation) and pkg/registry/apps/replicaset."""

from __future__ import annotations

from typing import ClassVar

from podless.apis.shared import checks, workloads
from podless.kinds.strategy import ValidationCost
from podless.meta import field
from podless.runtime.jsonobject import Object

COUNTS = (
    "replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration",
    "terminatingReplicas",
)  # fmt: skip
LIMITED_COUNTS = ("fullyLabeledReplicas", "readyReplicas", "availableReplicas")


class ReplicaSetStrategy(workloads.ReplicasStrategy):
    """Strategy of ReplicaSet."""

    blank: ClassVar[Object] = {"replicas": 0}
    checking = ValidationCost(once="SetsOnce")
    counts = COUNTS
    limited_counts = LIMITED_COUNTS

    def validate_spec(self, spec: Object, old: Object | None) -> field.Errors:
        yield from checks.validate_nonnegatives(spec, "spec", ("replicas", "minReadySeconds"))
        yield from workloads.validate_replica_spec(spec, old)


STRATEGY = ReplicaSetStrategy()
