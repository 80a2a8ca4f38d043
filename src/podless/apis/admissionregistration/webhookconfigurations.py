"""Strategies of ValidatingWebhookConfiguration and MutatingWebhookConfiguration."""

from __future__ import annotations

from podless.apis.admissionregistration import validation
from podless.apis.shared.literal import LiteralStrategy
from podless.kinds.kind import Version
from podless.kinds.strategy import Faults, MetadataPolicy, ValidationCost
from podless.runtime.jsonobject import Object


class WebhookStrategy(LiteralStrategy):
    """Strategy of webhook configurations."""

    literal_field = "webhooks"
    empties = frozenset({"rules", "matchConditions", "caBundle", "matchLabels", "matchExpressions", "values"})

    allow_unconditional_update = False
    has_generation = True
    metadata = MetadataPolicy(on_update=(1, 0), qualified_finalizers=False)
    checking = ValidationCost(preload=True)

    def load_rules(self) -> None:
        validation.load_expressions()

    def fill_computed_defaults(self, version: Version, obj: Object) -> None:
        validation.fill_webhooks(obj)

    def validate_create(self, version: Version, obj: Object) -> Faults:
        return [*validation.check_webhooks(obj)]

    def validate_update(self, version: Version, obj: Object, old: Object) -> Faults:
        return [*validation.check_webhooks(obj, old)]

    def increases_generation(self, version: Version, obj: Object, old: Object) -> bool:
        return self.is_changed(obj, old)


STRATEGY = WebhookStrategy()
