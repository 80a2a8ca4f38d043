"""StatefulSet. Source: Kubernetes' pkg/apis/apps (v1/defaults, validation) and pkg/registry/apps/statefulset."""

from __future__ import annotations

from typing import ClassVar

from podless.apis.podspec.claims import validate_claim_spec
from podless.apis.podspec.defaults import default_claim_spec
from podless.apis.podspec.template import validate_pod_template, validate_template_annotations
from podless.apis.podspec.warnings import warn_of_claim_spec
from podless.apis.shared import checks, workloads
from podless.codec.gotext import Named
from podless.kinds.kind import Version
from podless.meta import field, names, objectmeta
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import has
from podless.structs import gostructs
from podless.structs.structfiles import load_struct

_UPDATE = load_struct("apps/v1", "StatefulSetUpdateStrategy")
_ROLLING = load_struct("apps/v1", "RollingUpdateStatefulSetStrategy")

_MANAGEMENTS, _RETENTIONS = ("OrderedReady", "Parallel"), ("Retain", "Delete")
# mutable fields
_FREE = (
    "replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy", "minReadySeconds",
)  # fmt: skip
_ENDLESS = "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended"


class StatefulSetStrategy(workloads.ReplicasStrategy):
    """Strategy of StatefulSet."""

    blank: ClassVar[Object] = {"replicas": 0, "availableReplicas": 0}
    named = False
    naming = names.LABELS
    counts = (
        "replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas", "observedGeneration",
        "collisionCount",
    )  # fmt: skip
    limited_counts = ("readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas")
    ready = "status.readyReplicas"

    def fill_computed_defaults(self, version: Version, obj: Object) -> None:
        spec = obj["spec"]
        super().fill_computed_defaults(version, obj)
        for claim in each(spec.get("volumeClaimTemplates") or ()):
            _fill_claim(claim)
        strategy = spec["updateStrategy"]
        if not strategy.get("type"):
            strategy["type"] = "RollingUpdate"
            strategy["rollingUpdate"] = strategy.get("rollingUpdate") or {}
        rolling = strategy.get("rollingUpdate")
        if strategy["type"] == "RollingUpdate" and rolling is not None and rolling.get("partition") is None:
            strategy["rollingUpdate"] = {"partition": 0, **rolling}
        retention = spec.get("persistentVolumeClaimRetentionPolicy") or {}
        spec["persistentVolumeClaimRetentionPolicy"] = {
            name: retention.get(name) or "Retain" for name in ("whenDeleted", "whenScaled")
        }

    def prepare_create(self, version: Version, obj: Object) -> None:
        """Drop maxUnavailable, because the gate MaxUnavailableStatefulSet is off."""
        super().prepare_create(version, obj)
        (obj["spec"]["updateStrategy"].get("rollingUpdate") or {}).pop("maxUnavailable", None)

    def prepare_update(self, version: Version, obj: Object, old: Object) -> None:
        super().prepare_update(version, obj, old)
        if (old["spec"]["updateStrategy"].get("rollingUpdate") or {}).get("maxUnavailable") is None:
            (obj["spec"]["updateStrategy"].get("rollingUpdate") or {}).pop("maxUnavailable", None)

    def validate_spec(self, spec: Object, old: Object | None) -> field.Errors:
        template, whole = spec["template"], has("StatefulSetTemplates")
        yield from _validate_policies(spec)
        if old is None and whole:
            for claim, path in checks.list_items(spec, "volumeClaimTemplates", "spec"):
                yield from validate_claim_spec(claim["spec"], f"{path}.spec")
        yield from checks.validate_nonnegatives(spec, "spec", ("replicas", "minReadySeconds"))
        yield from checks.validate_nonnegative("spec.ordinals.start", (spec.get("ordinals") or {}).get("start"))
        if old is None:  # immutable, like the claim templates, so updates need no check
            yield from checks.validate_string(spec, "spec", "serviceName", names.check_label_name)
        errors, selector = workloads.validate_selector(spec, "", "empty selector is invalid for statefulset")
        yield from errors
        if selector is not None:
            yield from workloads.validate_matches(selector, template)
            # kube-apiserver validates labels and annotations twice; older releases validate nothing else
            if whole:
                before = None if old is None else _add_claim_volumes(old)
                yield from validate_pod_template(_add_claim_volumes(spec), "spec.template", before)
            metadata = template.get("metadata") or {}
            yield from objectmeta.check_labels(metadata.get("labels") or {}, "spec.template.labels")
            yield from objectmeta.check_annotations(metadata.get("annotations") or {}, "spec.template.annotations")
            if not whole:
                before = None if old is None else old["template"]
                yield from validate_template_annotations(template, "spec.template", before)
        yield from workloads.validate_always_running(template, "StatefulSet")

    def validate_kept(self, spec: Object, old: Object) -> list[FieldError]:
        free = [name for name in _FREE if name != "revisionHistoryLimit" or has("ChangeableHistoryLimit")]
        fixed = [{name: state[name] for name in each(state) if name not in free} for state in (spec, old)]
        if fixed[0] == fixed[1]:
            return []
        listed = f"{', '.join(map(repr, free[:-1]))} and {free[-1]!r}"
        return [field.forbidden("spec", f"updates to statefulset spec for fields other than {listed} are forbidden")]

    def list_warnings(self, version: Version, obj: Object, old: Object | None) -> list[str]:
        warnings = super().list_warnings(version, obj, old)
        for claim, path in checks.list_items(obj["spec"], "volumeClaimTemplates", "spec"):
            # the paths of kube-apiserver differ between create and update
            warnings += warn_of_claim_spec(claim["spec"], path if old is None else f"{path}.Spec")
        return [*warnings, _ENDLESS] if obj["spec"]["revisionHistoryLimit"] < 0 else warnings


def _fill_claim(claim: Object) -> None:
    """Set kind, apiVersion, defaults and phase of a volume claim template."""
    head = {"kind": "PersistentVolumeClaim", "apiVersion": "v1"}
    filled = dict(claim)
    claim.clear()
    claim.update({**head, **{name: value for name, value in each(filled).items() if name not in head}})
    default_claim_spec(claim["spec"])
    claim["status"] = {"phase": "Pending", **(claim.get("status") or {})}


def _add_claim_volumes(spec: Object) -> Object:
    """Return the template as pods get it: without hostname and subdomain, with the claims as its first volumes."""
    claim_volumes = dict(spec["template"])
    claim_volumes["spec"] = {
        name: value for name, value in each(claim_volumes["spec"]).items() if name not in ("hostname", "subdomain")
    }
    templates = spec.get("volumeClaimTemplates") or ()
    claims = dict.fromkeys((claim.get("metadata") or {}).get("name") or "" for claim in each(templates))
    if not claims:
        return claim_volumes
    volumes = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in each(claims)]
    volumes += [
        volume for volume in each(claim_volumes["spec"].get("volumes") or ()) if volume.get("name") not in claims
    ]
    return {**claim_volumes, "spec": {**claim_volumes["spec"], "volumes": volumes}}


def _validate_policies(spec: Object) -> field.Errors:
    management = spec["podManagementPolicy"]
    if management not in _MANAGEMENTS:
        yield field.invalid("spec.podManagementPolicy", Named(management), "must be 'OrderedReady' or 'Parallel'")
    yield from _validate_strategy(spec["updateStrategy"])
    for name, fate in each(spec["persistentVolumeClaimRetentionPolicy"]).items():
        yield from field.one_of(f"spec.persistentVolumeClaimRetentionPolicy.{name}", fate, _RETENTIONS)


def _validate_strategy(strategy: Object) -> field.Errors:
    path, kind, rolling = "spec.updateStrategy", strategy["type"], strategy.get("rollingUpdate")
    if kind not in ("RollingUpdate", "OnDelete"):
        shown_strategy = gostructs.format_struct(_UPDATE, strategy)
        yield field.invalid(path, shown_strategy, "must be 'RollingUpdate' or 'OnDelete'")
        return
    if rolling is None:
        return
    path += ".rollingUpdate"
    if kind == "OnDelete":
        shown_rolling = gostructs.format_struct(_ROLLING, rolling)
        yield field.invalid(path, shown_rolling, "only allowed for updateStrategy 'RollingUpdate'")
        return
    yield from checks.validate_nonnegative(f"{path}.partition", rolling.get("partition"))
    unavailable = rolling.get("maxUnavailable")
    if unavailable is not None:
        yield from checks.validate_int_or_percent(f"{path}.maxUnavailable", unavailable)
        if not checks.read_int_or_percent(unavailable):
            yield field.invalid(f"{path}.maxUnavailable", unavailable, "cannot be 0")
        yield from checks.validate_at_most_all(f"{path}.maxUnavailable", unavailable)


STRATEGY = StatefulSetStrategy()
