"""Texts of policy: what may be disrupted, and evictions."""

from __future__ import annotations

from podless.kinds.types.docs.common import GENERATION

TEXTS: dict[str, dict[str, str]] = {
    "PodDisruptionBudgetSpec": {
        "": "How many of certain pods evictions have to leave.",
        "maxUnavailable": "How many of the pods, or what percentage, may be missing. Not with minAvailable.",
        "minAvailable": "How many of the pods, or what percentage, must stay. Not with maxUnavailable.",
        "selector": "The labels of the pods; {} for all of the namespace.",
        "unhealthyPodEvictionPolicy": "IfHealthyBudget or AlwaysAllow: whether pods that are not ready may be evicted "
        "although too few are healthy; IfHealthyBudget where nothing is given.",
    },
    "PodDisruptionBudgetStatus": {
        "": "How many pods may be evicted now.",
        "conditions": "What is known of the budget; DisruptionAllowed says whether an eviction is possible.",
        "currentHealthy": "How many of the pods are healthy.",
        "desiredHealthy": "How many of the pods must stay healthy.",
        "disruptedPods": "Pods whose eviction was allowed and that are not gone yet, with the time of it.",
        "disruptionsAllowed": "How many pods may be evicted now.",
        "expectedPods": "How many pods the budget is about.",
        "observedGeneration": GENERATION,
    },
    "PodDisruptionBudget": {
        "": "Limits how many of certain pods may be evicted at the same time.",
        "spec": "How many of the pods evictions have to leave.",
        "status": "How many pods may be evicted now.",
    },
    "Eviction": {
        "": "Asks for a pod to be deleted as far as disruption budgets allow it.",
        "deleteOptions": "How the pod is to be deleted.",
        "metadata": "Its name is the pod's.",
    },
}
