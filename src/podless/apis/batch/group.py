"""The group batch."""

from podless.apis.shared.group import READ, WRITE, Group

GROUP = Group(
    "batch",
    17400,
    view=((READ, "cronjobs cronjobs/status jobs jobs/status"),),
    edit=((WRITE, "cronjobs jobs"),),
    earlier={"v1beta1": "CronJob"},
)

CRON_JOBS = GROUP.kind("CronJob", "cj", categories=("all",), status=True)
JOBS = GROUP.kind("Job", categories=("all",), status=True)
