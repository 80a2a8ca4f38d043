"""HorizontalPodAutoscaler of autoscaling/v2."""

from __future__ import annotations

from podless.meta.gotypes import INT32, INT64, QUANTITY, STRING, TIME, ListOf, String
from podless.meta.structs import Field, Struct
from podless.meta.structs_meta import LABEL_SELECTOR, condition, resource

CROSS_VERSION_OBJECT_REFERENCE = Struct(
    "CrossVersionObjectReference",
    (Field("kind", STRING, 1, always=True), Field("name", STRING, 2, always=True), Field("apiVersion", STRING, 3)),
    package="v2",
)

METRIC_TARGET = Struct(
    "MetricTarget",
    (
        Field("type", String("v2.MetricTargetType"), 1, always=True),
        Field("value", QUANTITY, 2, pointer=True),
        Field("averageValue", QUANTITY, 3, pointer=True),
        Field("averageUtilization", INT32, 4, pointer=True),
    ),
    package="v2",
)

METRIC_IDENTIFIER = Struct(
    "MetricIdentifier",
    (Field("name", STRING, 1, always=True), Field("selector", LABEL_SELECTOR, 2, pointer=True)),
    package="v2",
)

OBJECT_METRIC_SOURCE = Struct(
    "ObjectMetricSource",
    (
        Field("describedObject", CROSS_VERSION_OBJECT_REFERENCE, 1, always=True),
        Field("target", METRIC_TARGET, 2, always=True),
        Field("metric", METRIC_IDENTIFIER, 3, always=True),
    ),
    package="v2",
)

PODS_METRIC_SOURCE = Struct(
    "PodsMetricSource",
    (Field("metric", METRIC_IDENTIFIER, 1, always=True), Field("target", METRIC_TARGET, 2, always=True)),
    package="v2",
)

RESOURCE_METRIC_SOURCE = Struct(
    "ResourceMetricSource",
    (Field("name", String("v1.ResourceName"), 1, always=True), Field("target", METRIC_TARGET, 2, always=True)),
    package="v2",
)

CONTAINER_RESOURCE_METRIC_SOURCE = Struct(
    "ContainerResourceMetricSource",
    (
        Field("name", String("v1.ResourceName"), 1, always=True),
        Field("target", METRIC_TARGET, 2, always=True),
        Field("container", STRING, 3, always=True),
    ),
    package="v2",
)

EXTERNAL_METRIC_SOURCE = Struct(
    "ExternalMetricSource",
    (Field("metric", METRIC_IDENTIFIER, 1, always=True), Field("target", METRIC_TARGET, 2, always=True)),
    package="v2",
)

METRIC_SPEC = Struct(
    "MetricSpec",
    (
        Field("type", String("v2.MetricSourceType"), 1, always=True),
        Field("object", OBJECT_METRIC_SOURCE, 2, pointer=True),
        Field("pods", PODS_METRIC_SOURCE, 3, pointer=True),
        Field("resource", RESOURCE_METRIC_SOURCE, 4, pointer=True),
        Field("containerResource", CONTAINER_RESOURCE_METRIC_SOURCE, 7, pointer=True),
        Field("external", EXTERNAL_METRIC_SOURCE, 5, pointer=True),
    ),
    package="v2",
)

HPA_SCALING_POLICY = Struct(
    "HPAScalingPolicy",
    (
        Field("type", String("v2.HPAScalingPolicyType"), 1, always=True),
        Field("value", INT32, 2, always=True),
        Field("periodSeconds", INT32, 3, always=True),
    ),
    package="v2",
)

HPA_SCALING_RULES = Struct(
    "HPAScalingRules",
    (
        Field("stabilizationWindowSeconds", INT32, 3, pointer=True),
        Field("selectPolicy", String("v2.ScalingPolicySelect"), 1, pointer=True),
        Field("policies", ListOf(HPA_SCALING_POLICY), 2, pointer=True),
        Field("tolerance", QUANTITY, 4, pointer=True),
    ),
    package="v2",
)

HORIZONTAL_POD_AUTOSCALER_BEHAVIOR = Struct(
    "HorizontalPodAutoscalerBehavior",
    (Field("scaleUp", HPA_SCALING_RULES, 1, pointer=True), Field("scaleDown", HPA_SCALING_RULES, 2, pointer=True)),
    package="v2",
)

HORIZONTAL_POD_AUTOSCALER_SPEC = Struct(
    "HorizontalPodAutoscalerSpec",
    (
        Field("scaleTargetRef", CROSS_VERSION_OBJECT_REFERENCE, 1, always=True),
        Field("minReplicas", INT32, 2, pointer=True, fill=1),
        Field("maxReplicas", INT32, 3, always=True),
        Field("metrics", ListOf(METRIC_SPEC), 4),
        Field("behavior", HORIZONTAL_POD_AUTOSCALER_BEHAVIOR, 5, pointer=True),
    ),
    package="v2",
)

METRIC_VALUE_STATUS = Struct(
    "MetricValueStatus",
    (
        Field("value", QUANTITY, 1, pointer=True),
        Field("averageValue", QUANTITY, 2, pointer=True),
        Field("averageUtilization", INT32, 3, pointer=True),
    ),
    package="v2",
)

OBJECT_METRIC_STATUS = Struct(
    "ObjectMetricStatus",
    (
        Field("metric", METRIC_IDENTIFIER, 1, always=True),
        Field("current", METRIC_VALUE_STATUS, 2, always=True),
        Field("describedObject", CROSS_VERSION_OBJECT_REFERENCE, 3, always=True),
    ),
    package="v2",
)

PODS_METRIC_STATUS = Struct(
    "PodsMetricStatus",
    (Field("metric", METRIC_IDENTIFIER, 1, always=True), Field("current", METRIC_VALUE_STATUS, 2, always=True)),
    package="v2",
)

RESOURCE_METRIC_STATUS = Struct(
    "ResourceMetricStatus",
    (Field("name", String("v1.ResourceName"), 1, always=True), Field("current", METRIC_VALUE_STATUS, 2, always=True)),
    package="v2",
)

CONTAINER_RESOURCE_METRIC_STATUS = Struct(
    "ContainerResourceMetricStatus",
    (
        Field("name", String("v1.ResourceName"), 1, always=True),
        Field("current", METRIC_VALUE_STATUS, 2, always=True),
        Field("container", STRING, 3, always=True),
    ),
    package="v2",
)

EXTERNAL_METRIC_STATUS = Struct(
    "ExternalMetricStatus",
    (Field("metric", METRIC_IDENTIFIER, 1, always=True), Field("current", METRIC_VALUE_STATUS, 2, always=True)),
    package="v2",
)

METRIC_STATUS = Struct(
    "MetricStatus",
    (
        Field("type", String("v2.MetricSourceType"), 1, always=True),
        Field("object", OBJECT_METRIC_STATUS, 2, pointer=True),
        Field("pods", PODS_METRIC_STATUS, 3, pointer=True),
        Field("resource", RESOURCE_METRIC_STATUS, 4, pointer=True),
        Field("containerResource", CONTAINER_RESOURCE_METRIC_STATUS, 7, pointer=True),
        Field("external", EXTERNAL_METRIC_STATUS, 5, pointer=True),
    ),
    package="v2",
)

HORIZONTAL_POD_AUTOSCALER_CONDITION = condition("HorizontalPodAutoscalerCondition", package="v2")

HORIZONTAL_POD_AUTOSCALER_STATUS = Struct(
    "HorizontalPodAutoscalerStatus",
    (
        Field("observedGeneration", INT64, 1, pointer=True),
        Field("lastScaleTime", TIME, 2, pointer=True),
        Field("currentReplicas", INT32, 3),
        Field("desiredReplicas", INT32, 4, always=True),
        Field("currentMetrics", ListOf(METRIC_STATUS), 5, always=True, required=False),
        Field(
            "conditions", ListOf(HORIZONTAL_POD_AUTOSCALER_CONDITION), 6, keys=("type",), patch="merge", merge="type"
        ),
    ),
    package="v2",
)

HORIZONTAL_POD_AUTOSCALER = resource(
    "HorizontalPodAutoscaler",
    Field("spec", HORIZONTAL_POD_AUTOSCALER_SPEC, 2, required=True),
    Field("status", HORIZONTAL_POD_AUTOSCALER_STATUS, 3),
    package="v2",
)
