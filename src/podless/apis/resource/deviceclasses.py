"""Strategy of DeviceClass. Source: Kubernetes' pkg/apis/resource/validation."""

from __future__ import annotations

from functools import partial

from podless.apis.podspec.resources import is_extended
from podless.apis.resource import parts
from podless.apis.shared.typed import TypedStrategy
from podless.kinds.kind import Version
from podless.kinds.strategy import Faults, ValidationCost
from podless.meta import field, names
from podless.runtime.jsonobject import Object


class DeviceClassStrategy(TypedStrategy):
    """Strategy of DeviceClass. Each change of the spec increases metadata.generation."""

    has_generation = True
    checking = ValidationCost(preload=True, cost=parts.STRAIN)
    naming = (names.long_name, lambda _: [])  # of a generateName, only the generated name is validated

    def load_rules(self) -> None:
        parts.load_cel()

    def increases_generation(self, version: Version, obj: Object, old: Object) -> bool:
        return bool(obj["spec"] != old["spec"])

    def validate_create(self, version: Version, obj: Object) -> Faults:
        return [*_validate_spec(obj["spec"], {})]

    def validate_update(self, version: Version, obj: Object, old: Object) -> Faults:
        return [*_validate_spec(obj["spec"], old["spec"])]


def _validate_spec(spec: Object, before: Object) -> field.Errors:
    yield from parts.validate_selectors(spec.get("selectors"), "spec.selectors")
    config = spec.get("config")
    check = partial(parts.validate_configuration, stored=config == before.get("config"))
    yield from parts.validate_list(config, parts.MAX_CONFIGS, "spec.config", check)
    name = spec.get("extendedResourceName")
    if name is not None and not is_extended(name):
        yield field.invalid("spec.extendedResourceName", name, "must be a valid extended resource name")


STRATEGY = DeviceClassStrategy()
