"""Texts of HorizontalPodAutoscalers, of all versions."""

from __future__ import annotations

from podless.kinds.types.docs.common import CONDITION, GENERATION

_SOURCE = "Resource, ContainerResource, Pods, Object or External: which of the other fields is given."
_METRIC = "The metric's name, and which series of it."
_TARGET = "The value to keep."
_CURRENT = "The value it has now."
_RESOURCE = "The resource: cpu or memory."
_OBJECT = "The object that the metric is about."
_CONTAINER = "The container that is measured in each pod."
_KINDS = {
    "containerResource": "CPU or memory of one container of each pod.",
    "external": "A metric from outside of the cluster.",
    "object": "A metric of one object, such as requests per second of an Ingress.",
    "pods": "A metric of each pod, averaged over all.",
    "resource": "CPU or memory of the pods.",
    "type": _SOURCE,
}
_VALUE = {
    "averageUtilization": "A percentage of what the pods request, averaged over all.",
    "averageValue": "An amount for each pod, averaged over all.",
    "value": "An amount as a whole.",
}

TEXTS: dict[str, dict[str, str]] = {
    "CrossVersionObjectReference": {
        "": "Names an object in the same namespace.",
        "apiVersion": "Group and version of the object.",
        "kind": "Kind of the object.",
        "name": "Name of the object.",
    },
    "MetricTarget": {
        "": "The value of a metric that is to be kept: one of the values.",
        **_VALUE,
        "type": "Utilization, Value or AverageValue: which of the other fields is given.",
    },
    "MetricIdentifier": {
        "": "Names a metric.",
        "name": "The metric's name.",
        "selector": "The labels of the series of the metric; all of them where nothing is given.",
    },
    "ObjectMetricSource": {
        "": "A metric of one object to keep at a value.",
        "describedObject": _OBJECT,
        "metric": _METRIC,
        "target": _TARGET,
    },
    "PodsMetricSource": {
        "": "A metric of each pod to keep at an average.",
        "metric": _METRIC,
        "target": "The average to keep; AverageValue is the only type.",
    },
    "ResourceMetricSource": {"": "CPU or memory of the pods to keep at a value.", "name": _RESOURCE, "target": _TARGET},
    "ContainerResourceMetricSource": {
        "": "CPU or memory of one container of each pod to keep at a value.",
        "container": _CONTAINER,
        "name": _RESOURCE,
        "target": _TARGET,
    },
    "ExternalMetricSource": {"": "A metric from outside to keep at a value.", "metric": _METRIC, "target": _TARGET},
    "MetricSpec": {"": "A metric to scale by, and the value that it is to have.", **_KINDS},
    "HPAScalingPolicy": {
        "": "How far scaling may go in a time.",
        "periodSeconds": "The time in seconds, 1 to 1800.",
        "type": "Pods for a number, Percent for a percentage of what there is.",
        "value": "By how many pods, or by what percentage.",
    },
    "HPAScalingRules": {
        "": "How fast scaling goes in one direction.",
        "policies": "How far it may go in a time, by several measures.",
        "selectPolicy": "Max or Min: which policy counts; Disabled for no scaling. Max where nothing is given.",
        "stabilizationWindowSeconds": "Over how many past seconds the most careful advice counts, 0 to 3600; "
        "0 up and 300 down where nothing is given.",
        "tolerance": "By what ratio a metric may be off without scaling; the cluster's where nothing is given.",
    },
    "HorizontalPodAutoscalerBehavior": {
        "": "How fast scaling goes.",
        "scaleDown": "Rules for fewer pods; a window of 300 seconds and no other limit where nothing is given.",
        "scaleUp": "Rules for more pods; 4 or 100% in 15 seconds, whichever is more, where nothing is given.",
    },
    "HorizontalPodAutoscalerSpec": {
        "": "What is scaled, by what, and how far.",
        "behavior": "How fast scaling goes.",
        "maxReplicas": "The most pods that there may be.",
        "metrics": "What to scale by; the one that asks for the most pods wins. CPU at 80% where nothing is given.",
        "minReplicas": "The fewest pods that there may be; 1 where nothing is given.",
        "scaleTargetRef": "The object that is scaled, by its subresource scale.",
        "targetCPUUtilizationPercentage": "The average CPU use to keep, as a percentage of what the pods request.",
    },
    "MetricValueStatus": {"": "The value of a metric.", **_VALUE},
    "ObjectMetricStatus": {
        "": "A metric of one object, as it is now.",
        "current": _CURRENT,
        "describedObject": _OBJECT,
        "metric": _METRIC,
    },
    "PodsMetricStatus": {"": "A metric of each pod, as it is now.", "current": _CURRENT, "metric": _METRIC},
    "ResourceMetricStatus": {"": "CPU or memory of the pods, as it is now.", "current": _CURRENT, "name": _RESOURCE},
    "ContainerResourceMetricStatus": {
        "": "CPU or memory of one container of each pod, as it is now.",
        "container": _CONTAINER,
        "current": _CURRENT,
        "name": _RESOURCE,
    },
    "ExternalMetricStatus": {"": "A metric from outside, as it is now.", "current": _CURRENT, "metric": _METRIC},
    "MetricStatus": {"": "A metric to scale by, as it is now.", **_KINDS},
    "HorizontalPodAutoscalerCondition": {
        "": "One thing that is so, or is not so, of an autoscaler.",
        **CONDITION,
        "type": "What the condition is about: AbleToScale, ScalingActive or ScalingLimited.",
    },
    "HorizontalPodAutoscalerStatus": {
        "": "How many pods there are, and how many the metrics ask for.",
        "conditions": "Whether the autoscaler can scale, and what is in its way.",
        "currentCPUUtilizationPercentage": "The average CPU use now, as a percentage of what the pods request.",
        "currentMetrics": "The metrics, as they were last read.",
        "currentReplicas": "How many pods there were when last looked.",
        "desiredReplicas": "How many pods the metrics ask for.",
        "lastScaleTime": "When the number of pods was last changed.",
        "observedGeneration": GENERATION,
    },
    "HorizontalPodAutoscaler": {
        "": "Changes the number of pods by how busy they are.",
        "spec": "What is scaled, by what, and how far.",
        "status": "How many pods there are, and how many the metrics ask for.",
    },
}
