"""The kinds of policy/v1."""

from __future__ import annotations

from podless.meta.gotypes import INT32, INT64, INT_OR_STRING, TIME, ListOf, MapOf, String
from podless.meta.structs import Field, Struct
from podless.meta.structs_meta import CONDITION, DELETE_OPTIONS, LABEL_SELECTOR, resource

POD_DISRUPTION_BUDGET_SPEC = Struct(
    "PodDisruptionBudgetSpec",
    (
        Field("minAvailable", INT_OR_STRING, 1, pointer=True),
        Field("selector", LABEL_SELECTOR, 2, pointer=True, patch="replace"),
        Field("maxUnavailable", INT_OR_STRING, 3, pointer=True),
        Field(
            "unhealthyPodEvictionPolicy",
            String("v1.UnhealthyPodEvictionPolicyType", ("AlwaysAllow", "IfHealthyBudget")),
            4,
            pointer=True,
        ),
    ),
)

POD_DISRUPTION_BUDGET_STATUS = Struct(
    "PodDisruptionBudgetStatus",
    (
        Field("observedGeneration", INT64, 1),
        Field("disruptedPods", MapOf(TIME), 2),
        Field("disruptionsAllowed", INT32, 3, always=True, required=False),
        Field("currentHealthy", INT32, 4, always=True, required=False),
        Field("desiredHealthy", INT32, 5, always=True, required=False),
        Field("expectedPods", INT32, 6, always=True, required=False),
        Field("conditions", ListOf(CONDITION), 7, keys=("type",), patch="merge", merge="type"),
    ),
)

POD_DISRUPTION_BUDGET = resource(
    "PodDisruptionBudget",
    Field("spec", POD_DISRUPTION_BUDGET_SPEC, 2),
    Field("status", POD_DISRUPTION_BUDGET_STATUS, 3),
)

EVICTION = resource("Eviction", Field("deleteOptions", DELETE_OPTIONS, 2, pointer=True))
