"""Cells of the printer columns of flowcontrol.apiserver.k8s.io."""

from __future__ import annotations

from collections.abc import Mapping

from podless.apis.shared.columns import Object, Reader, at, find_condition


def read_dangling(obj: Object) -> str:
    return str(find_condition(at(obj, "status"), "Dangling").get("status", "?"))


ORDERS: Mapping[str, Reader] = {
    "flowschemas": lambda obj: (obj["spec"].get("matchingPrecedence", 0), obj["metadata"]["name"])
}
