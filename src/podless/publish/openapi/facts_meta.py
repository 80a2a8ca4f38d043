"""What is published of the structs of meta.k8s.io that several groups share; see facts.py."""

# ruff: noqa: E501

from __future__ import annotations

from podless.publish.openapi.fact import Fact
from podless.publish.openapi.standard import META

FACTS: dict[str, Fact] = {
    META + "LabelSelector": Fact(
        "A label selector is a label query over a set of resources. The result of matchLabels and matchExpressions are ANDed. An empty label selector matches all objects. A null label selector matches no objects.",
        (),
        {
            "matchLabels": 'matchLabels is a map of {key,value} pairs. A single {key,value} in the matchLabels map is equivalent to an element of matchExpressions, whose key field is "key", the operator is "In", and the values array contains only "value". The requirements are ANDed.',
            "matchExpressions": "matchExpressions is a list of label selector requirements. The requirements are ANDed.",
        },
        {"matchExpressions": {"x-kubernetes-list-type": "atomic"}},
    ),
    META + "LabelSelectorRequirement": Fact(
        "A label selector requirement is a selector that contains values, a key, and an operator that relates the key and values.",
        (
            "key",
            "operator",
        ),
        {
            "key": "key is the label key that the selector applies to.",
            "operator": "operator represents a key's relationship to a set of values. Valid operators are In, NotIn, Exists and DoesNotExist.",
            "values": "values is an array of string values. If the operator is In or NotIn, the values array must be non-empty. If the operator is Exists or DoesNotExist, the values array must be empty. This array is replaced during a strategic merge patch.",
        },
        {"values": {"x-kubernetes-list-type": "atomic"}},
    ),
    META + "FieldSelectorRequirement": Fact(
        "FieldSelectorRequirement is a selector that contains values, a key, and an operator that relates the key and values.",
        (
            "key",
            "operator",
        ),
        {
            "key": "key is the field selector key that the requirement applies to.",
            "operator": "operator represents a key's relationship to a set of values. Valid operators are In, NotIn, Exists, DoesNotExist. The list of operators may grow in the future.",
            "values": "values is an array of string values. If the operator is In or NotIn, the values array must be non-empty. If the operator is Exists or DoesNotExist, the values array must be empty.",
        },
        {"values": {"x-kubernetes-list-type": "atomic"}},
    ),
}
