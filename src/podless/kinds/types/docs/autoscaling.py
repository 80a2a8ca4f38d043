"""Texts of autoscaling: Scale, the subresource."""

from __future__ import annotations

TEXTS: dict[str, dict[str, str]] = {
    "Scale": {
        "": "How many replicas an object wants and has.",
        "spec": "How many replicas are wanted.",
        "status": "How many replicas there are.",
    },
    "ScaleSpec": {
        "": "How many replicas are wanted.",
        "replicas": "The number of replicas that are wanted.",
    },
    "ScaleStatus": {
        "": "How many replicas there are.",
        "replicas": "The number of replicas that there are.",
        "selector": "The labels of the replicas, as a label selector in a query has them.",
    },
}
