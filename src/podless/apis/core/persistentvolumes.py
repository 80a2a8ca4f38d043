"""PersistentVolume. Source: Kubernetes' pkg/registry/core/persistentvolume and pkg/api/persistentvolume."""

from __future__ import annotations

from podless.apis.core.persistentvolumeclaims import CLASS_ANNOTATION
from podless.apis.podspec.warnings import VOLUMES
from podless.apis.shared import nodelabels, volumes
from podless.apis.shared.checks import immutable_error
from podless.apis.shared.typed import TypedStrategy
from podless.codec import quantity
from podless.kinds.kind import Version
from podless.kinds.strategy import Faults, MetadataPolicy
from podless.meta import field
from podless.runtime import clock
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.structs import gostructs
from podless.structs.structfiles import load_struct

_VOLUME_SOURCE = load_struct("core/v1", "PersistentVolumeSource")
_NODE_AFFINITY = load_struct("core/v1", "VolumeNodeAffinity")

_OPTIONS_ANNOTATION = "volume.beta.kubernetes.io/mount-options"
# deprecated sources, in the order of their warnings
_DEPRECATED = ("cephfs", "photonPersistentDisk", "rbd", "scaleIO", "storageos", "glusterfs")
_RECYCLE = (
    "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach "
    "is to use dynamic provisioning."
)


class PersistentVolumeStrategy(TypedStrategy):
    """Strategy of PersistentVolume, whose source is immutable."""

    metadata = MetadataPolicy(on_update=(2, 0))

    def fill_computed_defaults(self, version: Version, obj: Object) -> None:
        spec = obj["spec"]
        if not spec.get("persistentVolumeReclaimPolicy"):
            spec["persistentVolumeReclaimPolicy"] = "Retain"
        if spec.get("volumeMode") is None:
            spec["volumeMode"] = "Filesystem"
        quantity.round_quantities(spec.get("capacity"))

    def complete(self, obj: Object, raw: Object) -> None:
        """Keep an empty capacity, because the error shows it."""
        super().complete(obj, raw)
        spec = raw.get("spec")
        if isinstance(spec, dict) and spec.get("capacity") == {}:
            obj["spec"]["capacity"] = {}

    def prepare_create(self, version: Version, obj: Object) -> None:
        obj["status"] = {"phase": "Pending", "lastPhaseTransitionTime": clock.now()}

    def prepare_status(self, version: Version, obj: Object, old: Object) -> None:
        super().prepare_status(version, obj, old)
        status, before = obj["status"], old.get("status") or {}
        since = before.get("lastPhaseTransitionTime")
        if status.get("phase") != before.get("phase"):
            if status.get("lastPhaseTransitionTime") in (None, since):
                status["lastPhaseTransitionTime"] = clock.now()
        elif since is not None and status.get("lastPhaseTransitionTime") is None:
            status["lastPhaseTransitionTime"] = since

    def validate(self, version: Version, obj: Object, old: Object | None) -> field.Errors:
        errors = [*volumes.validate_volume_spec(obj["spec"], obj["metadata"].get("name", ""))]
        yield from errors
        if old is not None:
            yield from errors  # kube-apiserver validates the spec of an update twice
            yield from _validate_changes(obj["spec"], old["spec"])

    def validate_status(self, version: Version, obj: Object, old: Object) -> Faults:
        return ()

    def list_warnings(self, version: Version, obj: Object, old: Object | None) -> list[str]:
        annotations, spec = obj["metadata"].get("annotations") or {}, obj["spec"]
        warnings = []
        for annotation, since, name in (
            (CLASS_ANNOTATION, "v1.8", "storageClassName"),
            (_OPTIONS_ANNOTATION, "v1.31", "mountOptions"),
        ):
            if annotation in annotations:
                text = f'deprecated since {since}; use "{name}" attribute instead'
                warnings.append(f"metadata.annotations[{annotation}]: {text}")
        if spec.get("persistentVolumeReclaimPolicy") == "Recycle":
            warnings.append(_RECYCLE)
        required = (spec.get("nodeAffinity") or {}).get("required") or {}
        warnings += nodelabels.list_term_warnings(
            required.get("nodeSelectorTerms") or [], "spec.nodeAffinity.required.nodeSelectorTerms"
        )
        removed_plugins = (VOLUMES[name] for name in _DEPRECATED if spec.get(name) is not None)
        return warnings + [f"spec.{name}: {text}" for name, text in removed_plugins]


def _validate_changes(new: Object, before: Object) -> field.Errors:
    pair = [{name: spec[name] for name in volumes.SOURCES if name in spec} for spec in (new, before)]
    pair[0] = _without_expansion(*pair)
    if pair[0] != pair[1]:
        difference = gostructs.diff_structs(_VOLUME_SOURCE, pair[1], pair[0])
        text = f"spec.persistentvolumesource is immutable after creation\n{difference}"
        yield field.forbidden("spec.persistentvolumesource", text)
    if new.get("volumeMode") != before.get("volumeMode"):
        yield immutable_error("volumeMode", new.get("volumeMode"), named=True)
    affinity, node_affinity = new.get("nodeAffinity"), before.get("nodeAffinity")
    if node_affinity is not None and affinity != node_affinity and _rename_labels(node_affinity, affinity) != affinity:
        shown_affinity = gostructs.format_struct(_NODE_AFFINITY, affinity)
        text = "field is immutable, except for updating from beta label to GA"
        yield field.invalid("nodeAffinity", shown_affinity, text)
    if before.get("volumeAttributesClassName") is not None and new.get("volumeAttributesClassName") is None:
        yield field.forbidden("spec.volumeAttributesClassName", "update from non-nil value to nil is forbidden")


def _without_expansion(source: Object, source_before: Object) -> Object:
    """Return the volume source without a new controllerExpandSecretRef, which may be added."""
    csi, csi_before = source.get("csi"), source_before.get("csi")
    if csi is None or csi_before is None or csi_before.get("controllerExpandSecretRef") is not None:
        return source
    return {**source, "csi": {name: item for name, item in each(csi).items() if name != "controllerExpandSecretRef"}}


def _rename_labels(old_affinity: Object, new_affinity: Object | None) -> Object:
    """Return the old node affinity, with deprecated label names renamed as in the new one."""
    affinities = (old_affinity, new_affinity or {})
    terms, new_terms = ((affinity.get("required") or {}).get("nodeSelectorTerms") or [] for affinity in affinities)
    terms_renamed = []
    for position, term in enumerate(each(terms)):
        new_expressions = (new_terms[position].get("matchExpressions") or []) if position < len(new_terms) else []
        expressions = []
        for index, expression in enumerate(each(term.get("matchExpressions") or [])):
            key = new_expressions[index].get("key") if index < len(new_expressions) else None
            is_renamed = key and nodelabels.RENAMED.get(expression.get("key"), ("",))[0] == key
            expressions.append({**expression, "key": key} if is_renamed else expression)
        terms_renamed.append({**term, "matchExpressions": expressions} if expressions else term)
    return {**old_affinity, "required": {**(old_affinity.get("required") or {}), "nodeSelectorTerms": terms_renamed}}


STRATEGY = PersistentVolumeStrategy()
