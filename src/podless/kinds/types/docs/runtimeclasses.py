"""Texts of node.k8s.io: how containers are run."""

from __future__ import annotations

TEXTS: dict[str, dict[str, str]] = {
    "Overhead": {
        "": "What a pod uses besides its containers.",
        "podFixed": "The amount for each pod, by resource.",
    },
    "Scheduling": {
        "": "On which nodes a runtime class can be used.",
        "nodeSelector": "Labels that the nodes have; pods of the class get them in their own selector.",
        "tolerations": "Tolerations that pods of the class get in addition.",
    },
    "RuntimeClass": {
        "": "A way to run containers that pods can choose.",
        "handler": "What the container runtime of the node calls it. It never changes.",
        "overhead": "What a pod of the class uses besides its containers.",
        "scheduling": "On which nodes the class can be used; on all where nothing is given.",
    },
}
