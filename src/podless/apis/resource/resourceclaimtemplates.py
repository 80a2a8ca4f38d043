"""Strategy of ResourceClaimTemplate. Source: Kubernetes' pkg/apis/resource/validation."""

from __future__ import annotations

from podless.apis.resource import parts, requests
from podless.apis.shared import checks
from podless.apis.shared.checks import immutable_error
from podless.apis.shared.typed import TypedStrategy
from podless.kinds.kind import Version
from podless.kinds.strategy import Faults, ValidationCost
from podless.meta import field
from podless.runtime.jsonobject import Object
from podless.structs import gostructs
from podless.structs.structfiles import load_struct

RESOURCE_CLAIM_TEMPLATE_SPEC = load_struct("resource/v1", "ResourceClaimTemplateSpec")


class ResourceClaimTemplateStrategy(TypedStrategy):
    """Strategy of ResourceClaimTemplate, whose spec is immutable."""

    checking = ValidationCost(preload=True, cost=parts.STRAIN)

    def load_rules(self) -> None:
        parts.load_cel()

    def fill_computed_defaults(self, version: Version, obj: Object) -> None:
        requests.default_requests(obj["spec"].get("spec") or {})

    def validate_create(self, version: Version, obj: Object) -> Faults:
        return [*_validate_template(obj["spec"])]

    def validate_update(self, version: Version, obj: Object, old: Object) -> Faults:
        spec, before = obj["spec"], old["spec"]
        is_same = requests.is_same_spec(spec["spec"], before["spec"]) and spec.get("metadata") == before.get("metadata")
        errors = (
            [] if is_same else [immutable_error("spec", gostructs.format_struct(RESOURCE_CLAIM_TEMPLATE_SPEC, spec))]
        )
        return [*_validate_template(spec), *errors]


def _validate_template(spec: Object) -> field.Errors:
    yield from checks.validate_template_metadata(spec.get("metadata") or {}, "spec.metadata")
    yield from requests.validate_claim(spec["spec"], "spec.spec")


STRATEGY = ResourceClaimTemplateStrategy()
