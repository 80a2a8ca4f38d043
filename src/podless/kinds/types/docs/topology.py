"""Texts of selectors for nodes and domains."""

from __future__ import annotations

TEXTS: dict[str, dict[str, str]] = {
    "NodeSelectorRequirement": {
        "": "What one label or field of a node must be like.",
        "key": "The key of the label, or the field.",
        "operator": "In, NotIn, Exists, DoesNotExist, Gt or Lt.",
        "values": "The values for In and NotIn, one whole number for Gt and Lt, none for the others.",
    },
    "NodeSelectorTerm": {
        "": "Requirements on a node, which must all hold. An empty one selects no node.",
        "matchExpressions": "Requirements on the node's labels.",
        "matchFields": "Requirements on the node's fields; metadata.name is the only one.",
    },
    "NodeSelector": {
        "": "Selects nodes for which one of its terms holds.",
        "nodeSelectorTerms": "The terms, one at least.",
    },
    "VolumeNodeAffinity": {
        "": "From which nodes a volume can be reached.",
        "required": "What a node must be like.",
    },
    "TopologySelectorLabelRequirement": {
        "": "What one label of a domain must be like.",
        "key": "The key of the label.",
        "values": "The values, of which the domain must have one.",
    },
    "TopologySelectorTerm": {
        "": "Requirements on a domain, which must all hold. An empty one holds for all.",
        "matchLabelExpressions": "Requirements on the domain's labels.",
    },
}
