"""Strategy of ResourceClaimTemplate. Source: Kubernetes' pkg/apis/resource/validation."""

from __future__ import annotations

from podless.apis.resource import parts, requests
from podless.apis.shared import checks
from podless.apis.shared.typed import TypedStrategy
from podless.kinds.kind import Version
from podless.meta import field
from podless.runtime.jsonobject import Object
from podless.structs import gostructs


class ResourceClaimTemplateStrategy(parts.SelectorStrategy, TypedStrategy):
    """Strategy of ResourceClaimTemplate, whose spec is immutable."""

    def fill_computed_defaults(self, version: Version, obj: Object) -> None:
        requests.default_requests(obj["spec"].get("spec") or {})

    def validate(self, version: Version, obj: Object, old: Object | None) -> field.Errors:
        spec, before = obj["spec"], old["spec"] if old is not None else obj["spec"]
        yield from checks.validate_template_metadata(spec.get("metadata") or {}, "spec.metadata")
        yield from requests.validate_claim(spec["spec"], "spec.spec")
        is_same = requests.is_same_spec(spec["spec"], before["spec"]) and spec.get("metadata") == before.get("metadata")
        if not is_same:
            yield checks.immutable_error("spec", gostructs.format_struct("resource/v1.ResourceClaimTemplateSpec", spec))


STRATEGY = ResourceClaimTemplateStrategy()
