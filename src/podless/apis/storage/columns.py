"""Cells of the printer columns of storage.k8s.io."""

from __future__ import annotations

from podless.apis.shared.columns import UNSET, Object, at
from podless.runtime.meter import each


def token_audiences(obj: Object) -> str:
    audiences = [at(token_request, "audience") for token_request in each(at(obj, "spec", "tokenRequests", default=()))]
    return ",".join(audiences) if audiences else UNSET
