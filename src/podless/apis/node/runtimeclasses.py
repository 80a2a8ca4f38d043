"""RuntimeClass. Source: Kubernetes' pkg/apis/node/validation."""

from __future__ import annotations

from podless.apis.podspec import resources
from podless.apis.podspec.scheduling import validate_tolerations
from podless.apis.shared import checks, nodelabels
from podless.apis.shared.typed import TypedStrategy
from podless.kinds.kind import Version
from podless.kinds.strategy import MetadataPolicy
from podless.meta import field, names
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import has
from podless.structs import gostructs


class RuntimeClassStrategy(TypedStrategy):
    """Strategy of RuntimeClass. The handler is immutable; overhead and scheduling are not."""

    allow_unconditional_update = False
    allow_create_on_update = True
    metadata = MetadataPolicy(qualified_finalizers=False)

    def validate(self, version: Version, obj: Object, old: Object | None) -> field.Errors:
        handler = obj["handler"]
        if handler or has("RequiredHandlers"):
            yield from checks.validate_name("handler", handler)
        else:
            yield from field.invalid_details("handler", handler, names.check_label_name(handler))
        fixed = (obj.get("overhead") or {}).get("podFixed") or {}
        yield from resources.validate_resources({"limits": fixed}, "overhead", set())
        yield from _validate_scheduling(obj.get("scheduling") or {})
        yield from checks.validate_immutable_fields(obj, old or obj, "handler")

    def list_warnings(self, version: Version, obj: Object, old: Object | None) -> list[str]:
        selector = (obj.get("scheduling") or {}).get("nodeSelector") or {}
        path = "scheduling.nodeSelector"
        return [f"{path}: {text}" for label in sorted(each(selector)) if (text := nodelabels.warn_of_label(label))]


def _validate_scheduling(scheduling: Object) -> field.Errors:
    for key, value in each(scheduling.get("nodeSelector") or {}).items():
        path = "scheduling.nodeSelector"
        yield from field.invalid_details(path, key, names.check_qualified_name(key))
        yield from field.invalid_details(path, value, names.check_label_value(value))
    tolerations = scheduling.get("tolerations") or []
    path = "scheduling.tolerations"
    yield from validate_tolerations(tolerations, path if has("TolerationsOfClasses") else f"{path}.tolerations")
    seen: set[tuple[object, ...]] = set()
    for index, toleration in enumerate(each(tolerations)):
        key_of_toleration = tuple(toleration.get(name) or "" for name in ("key", "operator", "value", "effect"))
        if key_of_toleration in seen:
            yield field.duplicate(f"{path}[{index}]", gostructs.format_struct("core/v1.Toleration", toleration))
        seen.add(key_of_toleration)


STRATEGY = RuntimeClassStrategy()
