"""Strategy of ServiceAccount."""

from __future__ import annotations

from podless.apis.shared.typed import TypedStrategy
from podless.kinds.kind import Version
from podless.runtime.jsonobject import Object

_ENFORCE = "kubernetes.io/enforce-mountable-secrets"
_ENFORCED = (
    f"metadata.annotations[{_ENFORCE}]: deprecated in v1.32+; prefer separate namespaces to isolate access to "
    "mounted secrets"
)


class ServiceAccountStrategy(TypedStrategy):
    """Strategy of ServiceAccount. References to Secrets keep only the name; a delete returns the account."""

    def prepare_create(self, version: Version, obj: Object) -> None:
        if obj.get("secrets"):
            obj["secrets"] = [{"name": secret["name"]} if secret.get("name") else {} for secret in obj["secrets"]]

    def prepare_update(self, version: Version, obj: Object, old: Object) -> None:
        self.prepare_create(version, obj)

    def list_warnings(self, version: Version, obj: Object, old: Object | None) -> list[str]:
        annotation = (obj["metadata"].get("annotations") or {}).get(_ENFORCE)
        before = (old["metadata"].get("annotations") or {}).get(_ENFORCE) if old is not None else None
        return [_ENFORCED] if annotation == "true" and before != "true" else []


STRATEGY = ServiceAccountStrategy()
