"""The group events.k8s.io, which serves the core group's events in another form."""

from podless.apis.core.group import EVENTS
from podless.apis.shared.group import READ, WRITE, Group

_EVENTS = ("events", "", "events.k8s.io")

GROUP = Group(
    "events.k8s.io", 17750, needed=True, view=((READ, *_EVENTS),), edit=((WRITE, *_EVENTS),), earlier={"v1beta1": "*"}
)

NEW_EVENTS = GROUP.kind("Event", "ev", home=EVENTS, rules="core.events:NEW_STRATEGY")
