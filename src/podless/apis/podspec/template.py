"""Validates whole pods and pod templates. Source: Kubernetes' pkg/apis/core/validation."""

from __future__ import annotations

from podless.apis.podspec import containers, marks, spared, spec
from podless.apis.podspec.options import STRICT, STRICT_POD, PodOptions
from podless.meta import field, objectmeta
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each


def validate_pod_template(template: Object, path: str, old: Object | None = None) -> list[FieldError]:
    """Validate a defaulted template. old: the template before an update."""
    return list(_validate_template(template, path, _choose_options(old)))


def validate_template_marks(template: Object, path: str, old: Object | None = None) -> list[FieldError]:
    """Validate the annotations of a template that configure its pods."""
    notes = (template.get("metadata") or {}).get("annotations") or {}
    return list(
        marks.validate_annotations(notes, template.get("spec") or {}, f"{path}.annotations", _choose_options(old))
    )


def _choose_options(old: Object | None) -> PodOptions:
    return (
        STRICT
        if old is None
        else spared.options_for_update(old.get("spec") or {}, old.get("metadata") or {}, pod=False)
    )


def _validate_template(template: Object, path: str, judged: PodOptions) -> field.Errors:
    metadata, pod_spec = template.get("metadata") or {}, template.get("spec") or {}
    notes, spec_path = metadata.get("annotations") or {}, f"{path}.spec"
    yield from objectmeta.check_labels(metadata.get("labels") or {}, f"{path}.labels")
    yield from objectmeta.check_annotations(notes, f"{path}.annotations")
    yield from marks.validate_annotations(notes, pod_spec, f"{path}.annotations", judged)
    yield from spec.validate_pod_spec(pod_spec, spec_path, judged)
    yield from marks.validate_agreement(notes, pod_spec, spec_path)
    if pod_spec.get("ephemeralContainers"):
        yield field.forbidden(f"{spec_path}.ephemeralContainers", "ephemeral containers not allowed in pod template")


def validate_pod(obj: Object, old: Object | None = None) -> list[FieldError]:
    """Validate a pod, except its metadata. old: the pod before an update."""
    judged = STRICT_POD if old is None else spared.options_for_update(old["spec"], old["metadata"], pod=True)
    return list(_validate_pod(obj, judged))


def validate_new_pod(obj: Object) -> list[FieldError]:
    """Validate a new pod, except its metadata."""
    return [*_validate_pod(obj, STRICT_POD), *_validate_new(obj)]


def _validate_pod(obj: Object, judged: PodOptions) -> field.Errors:
    metadata, pod_spec = obj["metadata"], obj["spec"]
    yield from marks.validate_annotations(metadata.get("annotations") or {}, pod_spec, "metadata.annotations", judged)
    yield from spec.validate_pod_spec(pod_spec, "spec", judged, metadata)
    if not pod_spec.get("serviceAccountName"):
        for position, volume in enumerate(each(pod_spec.get("volumes") or ())):
            for index, source in enumerate(each((volume.get("projected") or {}).get("sources") or ())):
                if source.get("serviceAccountToken") is not None:
                    at = f"spec.volumes[{position}].projected.sources[{index}].serviceAccountToken"
                    yield field.forbidden(at, "must not be specified when serviceAccountName is not set")
    for key in ("containers", "initContainers"):
        for position, container in enumerate(pod_spec.get(key) or ()):
            yield from containers.validate_image_spaces(container, f"spec.{key}[{position}]")


def _validate_new(obj: Object) -> field.Errors:
    spec = obj["spec"]
    if spec.get("ephemeralContainers"):
        yield field.forbidden("spec.ephemeralContainers", "cannot be set on create")
    if spec.get("nodeName") and spec.get("schedulingGates"):
        yield field.forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared")
    yield from marks.validate_agreement(obj["metadata"].get("annotations") or {}, spec, "spec")
