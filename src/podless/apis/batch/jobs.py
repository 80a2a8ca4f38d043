"""Job. Source: Kubernetes' pkg/apis/batch/validation and pkg/registry/batch/job."""

from __future__ import annotations

from podless.apis.batch import jobscheduling, jobspecs, jobstatus
from podless.apis.shared import workloads
from podless.apis.shared.checks import immutable_error, validate_immutable
from podless.apis.shared.typed import keep_parts
from podless.codec import serializer
from podless.codec.gotext import Named
from podless.kinds.kind import Kind, Version
from podless.kinds.strategy import DeletionPolicy, Faults, MetadataPolicy
from podless.meta import field, names, validation
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import has
from podless.runtime.sorting import sort_keys
from podless.structs import gostructs
from podless.structs.structfiles import load_struct

_POD_SPEC = load_struct("core/v1", "PodSpec")
_POD_TEMPLATE_SPEC = load_struct("core/v1", "PodTemplateSpec")
_STRUCTS = {"podFailurePolicy": load_struct("batch/v1", "PodFailurePolicy"), "successPolicy": jobspecs.SUCCESS_POLICY}

_UID, _NAME = "batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name"
_OLD_UID, _OLD_NAME = "controller-uid", "job-name"
# fields that may change while a Job is suspended
_DIRECTIVES = ("nodeSelector", "tolerations", "schedulingGates")


class JobStrategy(workloads.TemplateStrategy):
    """Strategy of Job. By default, pods are kept when their Job is deleted, and the client gets a warning."""

    metadata = MetadataPolicy()
    deletion = DeletionPolicy(
        orphans=True,
        warning="child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove "
        "them or set propagationPolicy=Orphan to suppress this warning",
    )
    selects = frozenset({"status.successful"})

    def fill_computed_defaults(self, version: Version, obj: Object) -> None:
        jobspecs.default_job_spec(obj)

    def prepare_create(self, version: Version, obj: Object) -> None:
        """Select pods by the uid of the Job, unless the client sets a selector."""
        super().prepare_create(version, obj)
        if not has("JobSuccessPolicy"):
            obj["spec"].pop("successPolicy", None)
        if not has("JobManagedBy"):
            obj["spec"].pop("managedBy", None)
        if not obj["spec"].get("manualSelector"):
            _label_pods(obj)

    def prepare_update(self, version: Version, obj: Object, old: Object) -> None:
        super().prepare_update(version, obj, old)
        if not has("JobSuccessPolicy") and old["spec"].get("successPolicy") is None:
            obj["spec"].pop("successPolicy", None)

    def make_stored(self, kind: Kind, obj: Object) -> Object:
        """Add the labels of the Job's pods, as reading a stored Job does."""
        return super().make_stored(kind, self.round_trip(obj))

    def round_trip(self, obj: Object) -> Object:
        labels = workloads.get_template_labels(obj["spec"]["template"])
        if labels and not obj["metadata"].get("labels"):
            return {**obj, "metadata": {**obj["metadata"], "labels": dict(labels)}}
        return obj

    def validate(self, version: Version, obj: Object, old: Object | None) -> field.Errors:
        spec_errors = [*_validate_spec(obj["spec"], old["spec"] if old is not None else None)]
        yield from _validate_generated(obj, old)
        yield from spec_errors
        yield from _validate_hostnames(obj)
        if old is not None:
            yield from spec_errors  # kube-apiserver validates the spec of an update twice
            yield from _validate_changes(obj, old)

    def validate_status(self, version: Version, obj: Object, old: Object) -> Faults:
        return jobstatus.validate_job_status(obj, old)

    def list_warnings(self, version: Version, obj: Object, old: Object | None) -> list[str]:
        warnings = jobspecs.warn_of_job_spec(obj["spec"], "spec") if workloads.may_warn(obj, old) else []
        return [*workloads.list_name_warnings(obj), *warnings] if old is None else warnings

    def read_selectable_fields(self, version: Version, obj: Object) -> dict[str, str]:
        return {"status.successful": str((obj.get("status") or {}).get("succeeded") or 0)}

    def explain_unselectable(self, name: str) -> str:
        return f'field label "{name}" not supported for Job'


def _label_pods(obj: Object) -> None:
    """Label the pods with the Job's name and uid, and select them by the uid."""
    uid, name, spec = obj["metadata"]["uid"], obj["metadata"].get("name") or "", obj["spec"]
    generated = {_OLD_NAME: name, _NAME: name, _OLD_UID: uid, _UID: uid}
    metadata = spec["template"].setdefault("metadata", {})
    metadata["labels"] = sort_keys({**generated, **(metadata.get("labels") or {})})
    selector = dict(spec.get("selector") or {})
    expected = {_UID: uid, **(selector.get("matchLabels") or {})}
    spec["selector"] = {**selector, "matchLabels": sort_keys(expected)}


def _validate_generated(obj: Object, old: Object | None) -> field.Errors:
    """Validate the labels and the selector that the server generates."""
    spec, metadata = obj["spec"], obj["metadata"]
    if spec.get("manualSelector") or spec.get("selector") is None:
        return
    uid, name = metadata.get("uid") or "", metadata.get("name") or ""
    expected = {_OLD_UID: uid, _OLD_NAME: name}
    old_labels = workloads.get_template_labels(old["spec"]["template"]) if old is not None else {_UID: "", _NAME: ""}
    if _UID in old_labels and _NAME in old_labels:
        expected |= {_UID: uid, _NAME: name}
    labels = workloads.get_template_labels(spec["template"])
    for key, value in each(expected).items():
        path = f"spec.template.metadata.labels[{key}]"
        if key not in labels:
            yield field.required(path, f"must be '{value}'")
        elif labels[key] != value:
            yield field.invalid(path, labels, f"must be '{value}'")
    selector = workloads.parse_selector(spec["selector"])
    if selector is not None and not selector.matches(expected):
        yield field.invalid("spec.selector", spec["selector"], "`selector` not auto-generated")


def _validate_spec(spec: Object, old: Object | None) -> field.Errors:
    selector = spec.get("selector")
    yield from jobspecs.validate_job_spec(spec, "spec", old)
    if selector is None:
        yield field.required("spec.selector")
    else:
        yield from validation.validate_selector(selector, "spec.selector")
    yield from workloads.validate_matches(workloads.parse_selector(selector), spec["template"])


def _validate_hostnames(obj: Object) -> field.Errors:
    """Require a name of an indexed Job that makes valid hostnames for its pods."""
    spec, name = obj["spec"], obj["metadata"].get("name") or ""
    completions = (spec.get("completions") or 0) if spec.get("completionMode") == jobspecs.INDEXED else 0
    host = f"{name}-{completions - 1}"
    if completions > 0 and names.check_label_name(host):
        text = f"will not able to create pod with invalid DNS label: {host}"
        yield field.invalid("metadata.name", name, text)


def _validate_changes(obj: Object, old: Object) -> field.Errors:
    """Reject changes of immutable fields."""
    spec, before = obj["spec"], old["spec"]
    completions = spec.get("completions")
    if spec.get("completionMode") != jobspecs.INDEXED:
        yield from validate_immutable("spec.completions", completions, before.get("completions"))
    elif completions not in (before.get("completions"), None, spec.get("parallelism")):
        text = "can only be modified in tandem with spec.parallelism"
        yield field.invalid("spec.completions", completions, text)
    yield from validate_immutable("spec.selector", spec.get("selector"), before.get("selector"))
    yield from _validate_template(obj, old)
    for name in ("completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"):
        value = shown_value = spec.get(name)
        if name in _STRUCTS:
            shown_value = gostructs.format_struct(_STRUCTS[name], value)
        elif isinstance(value, str):
            shown_value = Named(value)
        yield from validate_immutable(f"spec.{name}", value, before.get(name), shown_value)
    yield from jobscheduling.validate_changed_scheduling(spec, before, "spec.scheduling")


def _validate_template(obj: Object, old: Object) -> field.Errors:
    """Reject changes of the template. A suspended Job may change scheduling directives and resources."""
    template, before, path = obj["spec"]["template"], old["spec"]["template"], "spec.template"
    suspended = _is_suspended(old)
    if not suspended and template == before:
        return
    if suspended and template["spec"] == _adopt_mutable(template["spec"], before["spec"]):
        return
    if suspended and has("PodSpecOfHeldJobs"):
        yield immutable_error(f"{path}.spec", gostructs.format_struct(_POD_SPEC, template["spec"]))
    else:
        yield immutable_error(path, gostructs.format_struct(_POD_TEMPLATE_SPEC, template))


def _is_suspended(old: Object) -> bool:
    """Return whether a Job is suspended and has no active pods."""
    status = old.get("status") or {}
    conditions = each(status.get("conditions") or ())
    paused = any((item.get("type"), item.get("status")) == ("Suspended", "True") for item in conditions)
    return bool(old["spec"].get("suspend")) and (
        status.get("startTime") is None or (paused and not status.get("active"))
    )


def _adopt_mutable(spec: Object, old: Object) -> Object:
    """Return the old pod spec with the new values of fields that may change."""
    adopted: Object = serializer.copy_value(old)
    keep_parts(adopted, spec, *_DIRECTIVES)
    affinity = dict(adopted.get("affinity") or {})
    keep_parts(affinity, spec.get("affinity") or {}, "nodeAffinity")
    if affinity or spec.get("affinity") is not None:
        adopted["affinity"] = affinity
    else:
        adopted.pop("affinity", None)
    for key in ("containers", "initContainers"):
        for container, new in zip(each(adopted.get(key) or ()), spec.get(key) or (), strict=False):
            if container.get("name") == new.get("name"):
                keep_parts(container, new, "resources")
    return adopted


STRATEGY = JobStrategy()
