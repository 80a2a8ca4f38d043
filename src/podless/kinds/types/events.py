"""Event of events.k8s.io/v1: the same object as the core group's, in other words."""

from __future__ import annotations

from podless.kinds.types import core
from podless.meta.gotypes import INT32, MICRO_TIME, STRING, TIME
from podless.meta.structs import Field, Struct
from podless.meta.structs_meta import resource

EVENT_SERIES = Struct(
    "EventSeries",
    (Field("count", INT32, 1, always=True), Field("lastObservedTime", MICRO_TIME, 2, always=True)),
)

EVENT = resource(
    "Event",
    Field("eventTime", MICRO_TIME, 2, always=True),
    Field("series", EVENT_SERIES, 3, pointer=True),
    Field("reportingController", STRING, 4),
    Field("reportingInstance", STRING, 5),
    Field("action", STRING, 6),
    Field("reason", STRING, 7),
    Field("regarding", core.OBJECT_REFERENCE, 8),
    Field("related", core.OBJECT_REFERENCE, 9, pointer=True),
    Field("note", STRING, 10),
    Field("type", STRING, 11),
    Field("deprecatedSource", core.EVENT_SOURCE, 12),
    Field("deprecatedFirstTimestamp", TIME, 13, always=True, required=False),
    Field("deprecatedLastTimestamp", TIME, 14, always=True, required=False),
    Field("deprecatedCount", INT32, 15),
)
