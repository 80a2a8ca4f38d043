"""Strategy of APIService.

Source: kube-aggregator's registry/apiservice and apis/apiregistration/validation.
"""

from __future__ import annotations

from podless.apis.shared import checks
from podless.apis.shared.typed import CLIENT_METADATA, TypedStrategy, keep_parts
from podless.codec import gotext
from podless.kinds.kind import Version
from podless.kinds.strategy import NOT_STATUS, MetadataPolicy
from podless.meta import field, names, validation
from podless.runtime import clock
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each

_STATES = ("True", "False", "Unknown")


def set_available(obj: Object, status: str, reason: str, message: str) -> None:
    """Set the condition Available. Its lastTransitionTime changes only with the status."""
    condition = {"type": "Available", "status": status, "lastTransitionTime": clock.now()}
    validation.set_condition(obj["status"], condition | {"reason": reason, "message": message})


def set_local(obj: Object) -> None:
    """Set the condition Available for an API that this server serves."""
    set_available(obj, "True", "Local", "Local APIServices are always available")


class APIServiceStrategy(TypedStrategy):
    """Strategy of APIServices, which are named VERSION.GROUP."""

    allow_unconditional_update = False
    reset_fields: tuple[tuple[str, ...], ...] = (("status",),)
    status_resets = NOT_STATUS
    metadata = MetadataPolicy(qualified_finalizers=False)
    naming = names.PATH_SEGMENTS

    def prepare_create(self, version: Version, obj: Object) -> None:
        """Set the condition Available for an APIService without a service."""
        super().prepare_create(version, obj)
        if obj["spec"].get("service") is None:
            set_local(obj)

    def prepare_status(self, version: Version, obj: Object, old: Object) -> None:
        super().prepare_status(version, obj, old)
        keep_parts(obj["metadata"], old["metadata"], *CLIENT_METADATA)

    def validate(self, version: Version, obj: Object, old: Object | None) -> field.Errors:
        spec, metadata = obj["spec"], obj["metadata"]
        expected = f"{spec.get('version', '')}.{spec.get('group', '')}"
        reason = f'must be `spec.version+"."+spec.group`: {gotext.quote(expected)}'
        for name in ("generateName", "name"):
            if (text := metadata.get(name, "")) and text != expected and not names.check_path_segment(text):
                yield field.invalid(f"metadata.{name}", text, reason)
        yield from _group_version(spec)
        yield from _validate_backend(spec)

    def validate_status(self, version: Version, obj: Object, old: Object) -> field.Errors:
        for index, condition in enumerate(each(obj["status"].get("conditions") or [])):
            yield from field.one_of(f"status.conditions[{index}].status", condition["status"], _STATES)


def _group_version(spec: Object) -> field.Errors:
    group, version = spec.get("group", ""), spec.get("version", "")
    if not group and version != "v1":
        yield field.required("spec.group", "only v1 may have an empty group and it better be legacy kube")
    if group:
        yield from field.invalid_details("spec.group", group, names.check_subdomain(group))
    yield from field.invalid_details("spec.version", version, names.check_label_1035(version))
    for name, maximum in (("groupPriorityMinimum", 20_000), ("versionPriority", 1000)):
        if not 0 < spec[name] <= maximum:
            yield field.invalid(f"spec.{name}", spec[name], f"must be positive and less than {maximum}")


def _validate_backend(spec: Object) -> field.Errors:
    service, bundle, insecure = spec.get("service"), spec.get("caBundle") or "", spec.get("insecureSkipTLSVerify")
    if service is None:
        if bundle:
            size = len(bundle) // 4 * 3 - bundle.count("=")
            yield field.invalid("spec.caBundle", f"{size} bytes", "local APIServices may not have a caBundle")
        if insecure:
            reason = "local APIServices may not have insecureSkipTLSVerify"
            yield field.invalid("spec.insecureSkipTLSVerify", True, reason)
        return
    yield from checks.require_fields(service, "spec.service", "namespace", "name")
    if not 0 < service["port"] < 1 << 16:
        reason = "port is not valid: must be between 1 and 65535, inclusive"
        yield field.invalid("spec.service.port", service["port"], reason)
    if insecure and bundle:
        yield field.invalid("spec.insecureSkipTLSVerify", True, "may not be true if caBundle is present")


STRATEGY = APIServiceStrategy()
