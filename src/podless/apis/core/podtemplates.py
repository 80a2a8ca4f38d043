"""Strategy of PodTemplate."""

from __future__ import annotations

from podless.apis.podspec.defaults import default_pod_template
from podless.apis.podspec.disabled import drop_disabled
from podless.apis.podspec.template import validate_pod_template
from podless.apis.podspec.warnings import warn_of_template
from podless.apis.shared.typed import TypedStrategy
from podless.kinds.kind import Version
from podless.kinds.strategy import MetadataPolicy
from podless.meta import field
from podless.runtime.jsonobject import Object


class PodTemplateStrategy(TypedStrategy):
    """Strategy of PodTemplate."""

    has_generation = True
    metadata = MetadataPolicy(on_update=(0, 1))

    def fill_computed_defaults(self, version: Version, obj: Object) -> None:
        default_pod_template(obj["template"])

    def prepare_create(self, version: Version, obj: Object) -> None:
        drop_disabled(obj["template"]["spec"])

    def prepare_update(self, version: Version, obj: Object, old: Object) -> None:
        drop_disabled(obj["template"]["spec"], old["template"]["spec"])

    def validate(self, version: Version, obj: Object, old: Object | None) -> field.Errors:
        return validate_pod_template(obj["template"], "template", old["template"] if old is not None else None)

    def list_warnings(self, version: Version, obj: Object, old: Object | None) -> list[str]:
        is_unchanged = old is not None and not self.increases_generation(version, obj, old)
        return [] if is_unchanged else warn_of_template(obj["template"], "template")


STRATEGY = PodTemplateStrategy()
