"""Which nodes and domains are meant."""

from __future__ import annotations

from podless.meta.gotypes import STRING, ListOf, String
from podless.meta.structs import Field, Struct
from podless.meta.structs_meta import STRINGS

NODE_SELECTOR_REQUIREMENT = Struct(
    "NodeSelectorRequirement",
    (
        Field("key", STRING, 1, always=True),
        Field(
            "operator",
            String("v1.NodeSelectorOperator", ("DoesNotExist", "Exists", "Gt", "In", "Lt", "NotIn")),
            2,
            always=True,
        ),
        Field("values", STRINGS, 3),
    ),
)

NODE_SELECTOR_TERM = Struct(
    "NodeSelectorTerm",
    (
        Field("matchExpressions", ListOf(NODE_SELECTOR_REQUIREMENT), 1),
        Field("matchFields", ListOf(NODE_SELECTOR_REQUIREMENT), 2),
    ),
    atomic=True,
)

NODE_SELECTOR = Struct(
    "NodeSelector", (Field("nodeSelectorTerms", ListOf(NODE_SELECTOR_TERM), 1, always=True),), atomic=True
)

VOLUME_NODE_AFFINITY = Struct("VolumeNodeAffinity", (Field("required", NODE_SELECTOR, 1, pointer=True),))

TOPOLOGY_SELECTOR_LABEL_REQUIREMENT = Struct(
    "TopologySelectorLabelRequirement", (Field("key", STRING, 1, always=True), Field("values", STRINGS, 2, always=True))
)

TOPOLOGY_SELECTOR_TERM = Struct(
    "TopologySelectorTerm",
    (Field("matchLabelExpressions", ListOf(TOPOLOGY_SELECTOR_LABEL_REQUIREMENT), 1),),
    atomic=True,
)
