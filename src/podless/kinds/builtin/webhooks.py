"""ValidatingWebhookConfiguration and MutatingWebhookConfiguration."""

from __future__ import annotations

from collections.abc import Sequence

from podless.kinds import admission
from podless.kinds.builtin.literal import LiteralStrategy
from podless.kinds.kind import Kind, Version
from podless.kinds.strategy import Object
from podless.kinds.types.admission import MUTATING_WEBHOOK_CONFIGURATION, VALIDATING_WEBHOOK_CONFIGURATION
from podless.meta.field import FieldError
from podless.meta.structs import Struct


class WebhookStrategy(LiteralStrategy):
    """Webhooks are named after domains, and reachable by a URL or a Service."""

    part = "webhooks"
    empties = frozenset({"rules", "matchConditions", "caBundle", "matchLabels", "matchExpressions", "values"})

    generation = True
    unconditional = False
    rechecks = (1, 0)
    qualified = False

    def __init__(self, *, mutating: bool) -> None:
        self._mutating = mutating

    def default(self, version: Version, obj: Object) -> None:
        """Policies, selectors and the time that a call may take."""
        admission.fill_webhooks(obj, mutating=self._mutating)

    def validate_create(self, kind: Kind, version: Version, obj: Object) -> Sequence[FieldError]:
        """All rules of a new configuration."""
        return admission.check_webhooks(obj)

    def validate_update(
        self, kind: Kind, version: Version, obj: Object, old: Object, warnings: list[str]
    ) -> Sequence[FieldError]:
        """All rules of a changed one."""
        return admission.check_webhooks(obj, old)

    def changed(self, version: Version, obj: Object, old: Object) -> bool:
        """The webhooks count as a generation."""
        return self.differs(obj, old)


def _kind(kind: str, strategy: WebhookStrategy, struct: Struct) -> Kind:
    plural = kind.lower() + "s"
    return Kind(
        group="admissionregistration.k8s.io",
        plural=plural,
        kind=kind,
        singular=kind.lower(),
        list_kind=f"{kind}List",
        namespaced=False,
        versions=(Version("v1"),),
        storage_version="v1",
        strategy=strategy,
        categories=("api-extensions",),
        struct=struct,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
    )


VALIDATING_WEBHOOKS = _kind(
    "ValidatingWebhookConfiguration", WebhookStrategy(mutating=False), VALIDATING_WEBHOOK_CONFIGURATION
)
MUTATING_WEBHOOKS = _kind(
    "MutatingWebhookConfiguration", WebhookStrategy(mutating=True), MUTATING_WEBHOOK_CONFIGURATION
)

ALL = (MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS)
