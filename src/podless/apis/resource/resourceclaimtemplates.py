"""Strategy of ResourceClaimTemplate. Source: Kubernetes' pkg/apis/resource/validation."""

from __future__ import annotations

from podless.apis.resource import parts, requests
from podless.apis.shared.checks import Errors, immutable_error
from podless.apis.shared.typed import TypedStrategy
from podless.kinds.kind import Kind, Version
from podless.kinds.strategy import Checking, Faults
from podless.meta import field, objectmeta
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.structs import gostructs
from podless.structs.structfiles import load_struct

RESOURCE_CLAIM_TEMPLATE_SPEC = load_struct("resource/v1", "ResourceClaimTemplateSpec")

_TOLD = ("annotations", "labels")


class ResourceClaimTemplateStrategy(TypedStrategy):
    """Strategy of ResourceClaimTemplate, whose spec is immutable."""

    checking = Checking(preload=True, cost=parts.STRAIN)

    def load_rules(self) -> None:
        parts.load_cel()

    def fill_computed_defaults(self, version: Version, obj: Object) -> None:
        requests.default_requests(obj["spec"].get("spec") or {})

    def validate_create(self, kind: Kind, version: Version, obj: Object) -> Faults:
        return [*_template(obj["spec"])]

    def validate_update(self, kind: Kind, version: Version, obj: Object, old: Object, warnings: list[str]) -> Faults:
        spec, before = obj["spec"], old["spec"]
        same = requests.is_same_spec(spec["spec"], before["spec"]) and spec.get("metadata") == before.get("metadata")
        shown = [] if same else [immutable_error("spec", gostructs.format_struct(RESOURCE_CLAIM_TEMPLATE_SPEC, spec))]
        return [*_template(spec), *shown]


def _template(spec: Object) -> Errors:
    metadata, path = spec.get("metadata") or {}, "spec.metadata"
    yield from objectmeta.check_annotations(metadata.get("annotations") or {}, f"{path}.annotations")
    yield from objectmeta.check_labels(metadata.get("labels") or {}, f"{path}.labels")
    for name, value in each(metadata).items():
        if name not in _TOLD and value:
            yield field.forbidden(f"{path}.{name}", "cannot be set")
    yield from requests.validate_claim(spec["spec"], "spec.spec")


STRATEGY = ResourceClaimTemplateStrategy()
