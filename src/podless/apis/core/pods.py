"""Strategy of Pod.

Source: Kubernetes' pkg/registry/core/pod.
"""

from __future__ import annotations

from podless.apis.podspec import podannotations
from podless.apis.podspec.affinity import complete_selectors
from podless.apis.podspec.amounts import compute_qos_class
from podless.apis.podspec.defaults import default_pod
from podless.apis.podspec.disabled import drop_disabled
from podless.apis.podspec.resizes import validate_resize
from podless.apis.podspec.statuses import validate_status_update
from podless.apis.podspec.template import validate_new_pod
from podless.apis.podspec.updates import validate_ephemeral_update, validate_pod_update
from podless.apis.podspec.warnings import APP_ARMOR, warn_of_pod
from podless.apis.shared.typed import CLIENT_METADATA, TypedStrategy, keep_parts, put_part
from podless.apis.shared.workloads import list_name_warnings
from podless.kinds.kind import Kind, Version
from podless.kinds.strategy import Faults, Strategy
from podless.meta import addresses
from podless.runtime import clock
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import has

_FIELDS = (
    "spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "spec.hostNetwork",
    "status.phase", "status.podIP", "status.nominatedNodeName",
    # an old name of spec.nodeName; and a field that selectors accept and pods never match
    "spec.host", "status.podIPs",
)  # fmt: skip
_ENDED = ("Failed", "Succeeded")
_GATED = {
    "type": "PodScheduled",
    "status": "False",
    "lastProbeTime": None,
    "reason": "SchedulingGated",
    "message": "Scheduling is blocked due to non-empty scheduling gates",
}


class PodStrategy(TypedStrategy):
    """Strategy of Pod. Few fields are mutable; deletion has a grace period."""

    selects = frozenset(_FIELDS)

    @property
    def has_generation(self) -> bool:  # type: ignore[override]
        """Whether changes of the spec increase metadata.generation."""
        return has("PodGenerations")

    def fill_computed_defaults(self, version: Version, obj: Object) -> None:
        default_pod(obj)

    def early_warnings(self, obj: Object) -> list[str]:
        return [f"metadata.annotations[{key}]: {APP_ARMOR}" for key in podannotations.list_apparmor_annotations(obj)]

    def prepare_create(self, version: Version, obj: Object) -> None:
        spec = obj["spec"]
        obj["status"] = {"phase": "Pending", "qosClass": compute_qos_class(spec)}
        drop_disabled(spec)
        if spec.get("schedulingGates"):
            now = clock.now() if has("GatedPodTimes") else None
            head = {"phase": "Pending", "conditions": [{**_GATED, "lastTransitionTime": now}]}
            obj["status"] = {**head, "qosClass": obj["status"]["qosClass"]}
        complete_selectors(spec, obj["metadata"].get("labels") or {})
        podannotations.set_apparmor_fields(obj)
        if not has("AppArmorFieldsOnly"):
            podannotations.set_apparmor_annotations(obj)

    def prepare_update(self, version: Version, obj: Object, old: Object) -> None:
        obj["status"] = old["status"]
        drop_disabled(obj["spec"], old["spec"])

    def prepare_status(self, version: Version, obj: Object, old: Object) -> None:
        """Keep spec and owners, and each observedGeneration that the client omits."""
        super().prepare_status(version, obj, old)
        keep_parts(obj["metadata"], old["metadata"], "deletionTimestamp", "ownerReferences")
        status, status_before = obj.setdefault("status", {}), old["status"]
        for name in ("qosClass", "observedGeneration") if has("FixedQOSClass") else ("observedGeneration",):
            if not status.get(name) and status_before.get(name):
                status[name] = status_before[name]
        indexes: dict[str, list[int]] = {}
        for condition in each(status_before.get("conditions") or ()):
            indexes.setdefault(condition.get("type", ""), []).append(condition.get("observedGeneration") or 0)
        for condition in each(status.get("conditions") or ()):
            generations = indexes.get(condition.get("type", ""))
            last = generations.pop(0) if generations else 0
            if not condition.get("observedGeneration") and last:
                condition["observedGeneration"] = last

    def validate(self, version: Version, obj: Object, old: Object | None) -> Faults:
        return validate_new_pod(obj) if old is None else validate_pod_update(obj, old)

    def validate_status(self, version: Version, obj: Object, old: Object) -> Faults:
        return validate_status_update(obj, old)

    def list_status_warnings(self, obj: Object) -> list[str]:
        return [
            text
            for field_name in ("podIPs", "hostIPs")
            for index, entry in enumerate(each(obj["status"].get(field_name) or ()))
            for text in addresses.list_address_warnings(f"status.{field_name}[{index}].ip", entry.get("ip", ""))
        ]

    status_resets = (("spec",), ("metadata", "deletionTimestamp"), ("metadata", "ownerReferences"))

    def for_subresource(self, subresource: str) -> Strategy[Kind]:
        return _SUBRESOURCES.get(subresource, self)

    def grace_period(self, obj: Object, requested: int | None) -> int | None:
        spec = obj["spec"]
        if not spec.get("nodeName") or (obj.get("status") or {}).get("phase") in _ENDED:
            return 0
        period = spec.get("terminationGracePeriodSeconds") or 0 if requested is None else requested
        return 1 if period < 0 else int(period)

    def list_warnings(self, version: Version, obj: Object, old: Object | None) -> list[str]:
        return [] if old is not None else [*list_name_warnings(obj, "in the Pod's hostname"), *warn_of_pod(obj)]

    def read_selectable_fields(self, version: Version, obj: Object) -> dict[str, str]:
        spec, status = obj["spec"], obj.get("status") or {}
        texts = ("nodeName", "restartPolicy", "schedulerName", "serviceAccountName")
        fields = {f"spec.{name}": spec.get(name) or "" for name in texts}
        ips = status.get("podIPs") or [{}]
        return fields | {
            "spec.host": fields["spec.nodeName"],
            "spec.hostNetwork": "true" if spec.get("hostNetwork") else "false",
            "status.phase": status.get("phase") or "",
            "status.podIP": ips[0].get("ip") or "",
            "status.nominatedNodeName": status.get("nominatedNodeName") or "",
        }


class _SpecPart(PodStrategy):
    """Strategy of a subresource that changes one part of the spec."""

    def take_part(self, spec: Object, old: Object) -> Object:
        """Return the old spec with the client's version of this part."""
        raise NotImplementedError

    def prepare_update(self, version: Version, obj: Object, old: Object) -> None:
        obj["spec"] = self.take_part(obj["spec"], old["spec"])
        obj["status"] = old["status"]
        keep_parts(obj["metadata"], old["metadata"], *CLIENT_METADATA)
        drop_disabled(obj["spec"], old["spec"])


class _Ephemeral(_SpecPart):
    """Strategy of the subresource ephemeralcontainers."""

    def take_part(self, spec: Object, old: Object) -> Object:
        changed = dict(old)
        put_part(changed, "ephemeralContainers", spec.get("ephemeralContainers"))
        return changed

    def validate(self, version: Version, obj: Object, old: Object | None) -> Faults:
        assert old is not None
        return validate_ephemeral_update(obj, old)


class _Resize(_SpecPart):
    """Strategy of the subresource resize."""

    def take_part(self, spec: Object, old: Object) -> Object:
        keys = ("containers", "initContainers")
        if any(len(spec.get(key) or ()) != len(old.get(key) or ()) for key in keys):
            return spec
        changed = old | {key: _adopt_resources(spec.get(key) or [], old[key] or []) for key in keys if key in old}
        if has("InPlacePodLevelResourcesVerticalScaling"):
            keep_parts(changed, spec, "resources")
        return changed

    def validate(self, version: Version, obj: Object, old: Object | None) -> Faults:
        assert old is not None
        return validate_resize(obj, old)


def _adopt_resources(new_containers: list[Object], before: list[Object]) -> list[Object]:
    """Return the old containers with the new resources and resizePolicy; the new ones if their names differ."""
    if any(
        item.get("name") != old_item.get("name") for item, old_item in zip(each(new_containers), before, strict=True)
    ):
        return new_containers
    adopted = [dict(container) for container in each(before)]
    for container, item in zip(adopted, new_containers, strict=True):
        keep_parts(container, item, "resources", "resizePolicy")
    return adopted


STRATEGY = PodStrategy()
_SUBRESOURCES: dict[str, Strategy[Kind]] = {"ephemeralcontainers": _Ephemeral(), "resize": _Resize()}
