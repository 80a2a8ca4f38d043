"""The group autoscaling."""

from podless.apis.shared.group import READ, VERBS, WRITE, Group

GROUP = Group(
    "autoscaling",
    17500,
    version_priorities={"v2": 30},
    view=((READ, "horizontalpodautoscalers horizontalpodautoscalers/status"),),
    edit=((WRITE, "horizontalpodautoscalers"),),
)

AUTOSCALERS = GROUP.kind("HorizontalPodAutoscaler", "hpa", categories=("all",), status=True, versions=("v2", "v1"))
SCALES = GROUP.send("Scale", verbs=VERBS)
