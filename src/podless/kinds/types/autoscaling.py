"""Scale of autoscaling/v1: what the scale subresource reads and writes."""

from __future__ import annotations

from podless.meta.gotypes import INT32, STRING
from podless.meta.structs import Field, Struct
from podless.meta.structs_meta import resource

SCALE_SPEC = Struct("ScaleSpec", (Field("replicas", INT32, 1, default=0),))

SCALE_STATUS = Struct("ScaleStatus", (Field("replicas", INT32, 1, always=True), Field("selector", STRING, 2)))

SCALE = resource("Scale", Field("spec", SCALE_SPEC, 2), Field("status", SCALE_STATUS, 3))
