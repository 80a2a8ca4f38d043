"""Texts of coordination.k8s.io."""

from __future__ import annotations

TEXTS: dict[str, dict[str, str]] = {
    "Lease": {
        "": "Something that one holder at a time has, such as the lead among several controllers.",
        "spec": "Who holds the lease, and for how long.",
    },
    "LeaseSpec": {
        "": "Who holds a lease, and for how long.",
        "acquireTime": "When the holder got the lease.",
        "holderIdentity": "Who holds the lease.",
        "leaseDurationSeconds": "How many seconds after the last renewal others may take the lease.",
        "leaseTransitions": "How often the lease went to another holder.",
        "preferredHolder": "Who the holder should hand the lease over to. Only where a strategy is given.",
        "renewTime": "When the holder last renewed the lease.",
        "strategy": "How the holder is chosen, where the server coordinates the election.",
    },
}
