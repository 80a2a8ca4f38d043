"""The group policy."""

from podless.apis.shared.group import READ, WRITE, Group

GROUP = Group(
    "policy",
    17100,
    view=((READ, "poddisruptionbudgets poddisruptionbudgets/status"),),
    edit=((WRITE, "poddisruptionbudgets"),),
    earlier={"v1beta1": "PodDisruptionBudget"},
)

DISRUPTION_BUDGETS = GROUP.kind("PodDisruptionBudget", "pdb", status=True)
EVICTIONS = GROUP.send("Eviction")
