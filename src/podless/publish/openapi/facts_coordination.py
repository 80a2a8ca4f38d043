"""What is published of leases; see facts.py."""

# ruff: noqa: E501

from __future__ import annotations

from podless.publish.openapi.fact import COORDINATION, Fact

FACTS: dict[str, Fact] = {
    COORDINATION + "Lease": Fact(
        "Lease defines a lease concept.",
        (),
        {
            "metadata": "metadata is the standard object metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata",
            "spec": "spec contains the specification of the Lease. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#spec-and-status",
        },
    ),
    COORDINATION + "LeaseList": Fact(
        "LeaseList is a list of Lease objects.",
        ("items",),
        {
            "metadata": "Standard list metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata",
            "items": "items is a list of schema objects.",
        },
    ),
    COORDINATION + "LeaseSpec": Fact(
        "LeaseSpec is a specification of a Lease.",
        (),
        {
            "holderIdentity": "holderIdentity contains the identity of the holder of a current lease. If Coordinated Leader Election is used, the holder identity must be equal to the elected LeaseCandidate.metadata.name field.",
            "leaseDurationSeconds": "leaseDurationSeconds is a duration that candidates for a lease need to wait to force acquire it. This is measured against the time of last observed renewTime.",
            "acquireTime": "acquireTime is a time when the current lease was acquired.",
            "renewTime": "renewTime is a time when the current holder of a lease has last updated the lease.",
            "leaseTransitions": "leaseTransitions is the number of transitions of a lease between holders.",
            "strategy": "strategy indicates the strategy for picking the leader for coordinated leader election. If the field is not specified, there is no active coordination for this lease. (Alpha) Using this field requires the CoordinatedLeaderElection feature gate to be enabled.",
            "preferredHolder": "preferredHolder signals to a lease holder that the lease has a more optimal holder and should be given up. This field can only be set if Strategy is also set.",
        },
    ),
}
