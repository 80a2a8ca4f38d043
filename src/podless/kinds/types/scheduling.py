"""The kinds of scheduling.k8s.io/v1."""

from __future__ import annotations

from podless.meta.gotypes import BOOL, INT32, STRING, String
from podless.meta.structs import Field
from podless.meta.structs_meta import resource

PRIORITY_CLASS = resource(
    "PriorityClass",
    Field("value", INT32, 2, always=True, required=False),
    Field("globalDefault", BOOL, 3),
    Field("description", STRING, 4),
    Field(
        "preemptionPolicy",
        String("v1.PreemptionPolicy", ("Never", "PreemptLowerPriority")),
        5,
        pointer=True,
        fill="PreemptLowerPriority",
    ),
)
