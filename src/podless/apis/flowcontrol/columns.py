"""Printer columns of flowcontrol.apiserver.k8s.io."""

from __future__ import annotations

from collections.abc import Mapping

from podless.apis.shared.columns import (
    AGE,
    NAME,
    NONE,
    Columns,
    Object,
    Reader,
    at,
    find_condition,
    number,
    string,
    text,
    value,
)


def _read_dangling(obj: Object) -> str:
    return str(find_condition(at(obj, "status"), "Dangling").get("status", "?"))


COLUMNS: Columns = {
    "flowschemas": (
        NAME,
        string("PriorityLevel", "FlowSchemaSpec.priorityLevelConfiguration", "spec.priorityLevelConfiguration.name"),
        string("MatchingPrecedence", "FlowSchemaSpec.matchingPrecedence", number("spec.matchingPrecedence")),
        string(
            "DistinguisherMethod", "FlowSchemaSpec.distinguisherMethod", text("spec.distinguisherMethod.type", NONE)
        ),
        AGE,
        string("MissingPL", "Whether the priority level is missing.", _read_dangling),
    ),
    "prioritylevelconfigurations": (
        NAME,
        string("Type", "PriorityLevelConfigurationSpec.type"),
        string(
            "NominalConcurrencyShares",
            "LimitedPriorityLevelConfiguration.nominalConcurrencyShares",
            value("spec.limited.nominalConcurrencyShares", NONE),
        ),
        string("Queues", "QueuingConfiguration.queues", value("spec.limited.limitResponse.queuing.queues", NONE)),
        string("HandSize", "QueuingConfiguration.handSize", value("spec.limited.limitResponse.queuing.handSize", NONE)),
        string(
            "QueueLengthLimit",
            "QueuingConfiguration.queueLengthLimit",
            value("spec.limited.limitResponse.queuing.queueLengthLimit", NONE),
        ),
        AGE,
    ),
}
ORDERS: Mapping[str, Reader] = {
    "flowschemas": lambda obj: (obj["spec"].get("matchingPrecedence", 0), obj["metadata"]["name"])
}
