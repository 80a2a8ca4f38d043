"""Texts that the tables of several modules have."""

from __future__ import annotations

MESSAGE = "Details, for people."
REASON = "Why the status is what it is, in one CamelCase word."
CONDITION = {
    "lastTransitionTime": "When the status last became another one.",
    "message": MESSAGE,
    "reason": REASON,
    "status": "True, False or Unknown.",
    "type": "What the condition is about, in CamelCase.",
}
PROBED = {**CONDITION, "lastProbeTime": "When the condition was last looked at."}
GENERATION = "The generation of the object that this status tells of."
PROTOCOL = "TCP, UDP or SCTP; TCP where nothing is given."
