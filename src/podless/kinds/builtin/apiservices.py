"""APIService: which group-versions are served, for those who look there; the server alone writes them."""

from __future__ import annotations

from podless.kinds.builtin.typed import TypedStrategy
from podless.kinds.kind import Kind, Version
from podless.kinds.types.apiregistration import API_SERVICE


class APIServiceStrategy(TypedStrategy):
    """Nobody writes them but the server."""

    collected = False


API_SERVICES = Kind(
    group="apiregistration.k8s.io",
    plural="apiservices",
    kind="APIService",
    singular="apiservice",
    list_kind="APIServiceList",
    namespaced=False,
    versions=(Version("v1"),),
    storage_version="v1",
    strategy=APIServiceStrategy(),
    categories=("api-extensions",),
    struct=API_SERVICE,
    verbs=("get", "list", "watch"),
)
