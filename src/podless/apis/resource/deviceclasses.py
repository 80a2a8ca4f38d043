"""Strategy of DeviceClass. Source: Kubernetes' pkg/apis/resource/validation."""

from __future__ import annotations

from functools import partial

from podless.apis.podspec.resources import is_extended
from podless.apis.resource import parts
from podless.apis.shared.typed import TypedStrategy
from podless.kinds.kind import Version
from podless.meta import field, names
from podless.runtime.jsonobject import Object


class DeviceClassStrategy(parts.SelectorStrategy, TypedStrategy):
    """Strategy of DeviceClass."""

    has_generation = True
    naming = (names.check_long_name, names.accept_name)  # of a generateName, only the generated name is validated

    def validate(self, version: Version, obj: Object, old: Object | None) -> field.Errors:
        spec, before = obj["spec"], old["spec"] if old is not None else {}
        yield from parts.validate_selectors(spec.get("selectors"), "spec.selectors")
        config = spec.get("config")
        check = partial(parts.validate_configuration, stored=config == before.get("config"))
        yield from parts.validate_list(config, parts.MAX_CONFIGS, "spec.config", check)
        name = spec.get("extendedResourceName")
        if name is not None and not is_extended(name):
            yield field.invalid("spec.extendedResourceName", name, "must be a valid extended resource name")


STRATEGY = DeviceClassStrategy()
