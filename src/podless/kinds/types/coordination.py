"""Lease of coordination.k8s.io/v1."""

from __future__ import annotations

from podless.meta.gotypes import INT32, MICRO_TIME, STRING, String
from podless.meta.structs import Field, Struct
from podless.meta.structs_meta import resource

LEASE_SPEC = Struct(
    "LeaseSpec",
    (
        Field("holderIdentity", STRING, 1, pointer=True),
        Field("leaseDurationSeconds", INT32, 2, pointer=True),
        Field("acquireTime", MICRO_TIME, 3, pointer=True),
        Field("renewTime", MICRO_TIME, 4, pointer=True),
        Field("leaseTransitions", INT32, 5, pointer=True),
        Field("strategy", String("v1.CoordinatedLeaseStrategy"), 6, pointer=True),
        Field("preferredHolder", STRING, 7, pointer=True),
    ),
)

LEASE = resource("Lease", Field("spec", LEASE_SPEC, 2))
