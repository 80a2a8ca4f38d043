"""The kinds of node.k8s.io/v1."""

from __future__ import annotations

from podless.kinds.types.core import RESOURCES
from podless.kinds.types.podspecs import TOLERATION
from podless.meta.gotypes import STRING, ListOf
from podless.meta.structs import Field, Struct
from podless.meta.structs_meta import STRING_MAP, resource

OVERHEAD = Struct("Overhead", (Field("podFixed", RESOURCES, 1),))

SCHEDULING = Struct(
    "Scheduling", (Field("nodeSelector", STRING_MAP, 1, atomic=True), Field("tolerations", ListOf(TOLERATION), 2))
)

RUNTIME_CLASS = resource(
    "RuntimeClass",
    Field("handler", STRING, 2, always=True),
    Field("overhead", OVERHEAD, 3, pointer=True),
    Field("scheduling", SCHEDULING, 4, pointer=True),
)
