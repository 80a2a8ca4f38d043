"""ServiceAccount."""

from __future__ import annotations

from podless.apis.authorization.reviews import TOKEN_REQUESTS
from podless.apis.shared.declared import declare
from podless.apis.shared.typed import TypedStrategy
from podless.kinds.kind import Subresource, Version
from podless.runtime.jsonobject import Object
from podless.structs.structfiles import load_struct

SERVICE_ACCOUNT = load_struct("core/v1", "ServiceAccount")

_ENFORCE = "kubernetes.io/enforce-mountable-secrets"
_ENFORCED = (
    f"metadata.annotations[{_ENFORCE}]: deprecated in v1.32+; prefer separate namespaces to isolate access to "
    "mounted secrets"
)


class ServiceAccountStrategy(TypedStrategy):
    """Secrets are referred to by their names alone; a delete shows the account once more."""

    rechecks = (1, 1)

    def prepare_create(self, version: Version, obj: Object) -> None:
        """Keep the names of secrets only."""
        if obj.get("secrets"):
            obj["secrets"] = [{"name": one["name"]} if one.get("name") else {} for one in obj["secrets"]]

    def prepare_update(self, version: Version, obj: Object, old: Object) -> None:
        """The same."""
        self.prepare_create(version, obj)

    def warnings(self, version: Version, obj: Object, old: Object | None) -> list[str]:
        """An annotation that is going out of use."""
        given = (obj["metadata"].get("annotations") or {}).get(_ENFORCE)
        before = (old["metadata"].get("annotations") or {}).get(_ENFORCE) if old is not None else None
        return [_ENFORCED] if given == "true" and before != "true" else []


SERVICE_ACCOUNTS = declare(
    "",
    "ServiceAccount",
    "serviceaccounts",
    "sa",
    strategy=ServiceAccountStrategy(),
    struct=SERVICE_ACCOUNT,
    shown_deleted=True,
    below=(Subresource("token", ("create",), TOKEN_REQUESTS),),
)
