"""HorizontalPodAutoscaler of autoscaling/v1."""

from __future__ import annotations

from podless.meta.gotypes import INT32, INT64, STRING, TIME
from podless.meta.structs import Field, Struct
from podless.meta.structs_meta import resource

CROSS_VERSION_OBJECT_REFERENCE = Struct(
    "CrossVersionObjectReference",
    (Field("kind", STRING, 1, always=True), Field("name", STRING, 2, always=True), Field("apiVersion", STRING, 3)),
    atomic=True,
)

HORIZONTAL_POD_AUTOSCALER_SPEC = Struct(
    "HorizontalPodAutoscalerSpec",
    (
        Field("scaleTargetRef", CROSS_VERSION_OBJECT_REFERENCE, 1, always=True),
        Field("minReplicas", INT32, 2, pointer=True, fill=1),
        Field("maxReplicas", INT32, 3, always=True),
        Field("targetCPUUtilizationPercentage", INT32, 4, pointer=True),
    ),
)

HORIZONTAL_POD_AUTOSCALER_STATUS = Struct(
    "HorizontalPodAutoscalerStatus",
    (
        Field("observedGeneration", INT64, 1, pointer=True),
        Field("lastScaleTime", TIME, 2, pointer=True),
        Field("currentReplicas", INT32, 3, always=True),
        Field("desiredReplicas", INT32, 4, always=True),
        Field("currentCPUUtilizationPercentage", INT32, 5, pointer=True),
    ),
)

HORIZONTAL_POD_AUTOSCALER = resource(
    "HorizontalPodAutoscaler",
    Field("spec", HORIZONTAL_POD_AUTOSCALER_SPEC, 2, required=True),
    Field("status", HORIZONTAL_POD_AUTOSCALER_STATUS, 3),
)
