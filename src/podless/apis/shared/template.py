"""The selector of a workload for the pods of its template, and the template in updates.

Source: Kubernetes' pkg/apis/apps/validation and pkg/api/pod.
"""

from __future__ import annotations

from collections.abc import Sequence

from podless.apis import podspec
from podless.meta import field, labelselector, names, selectors
from podless.meta.errors import BadRequest
from podless.meta.field import FieldError
from podless.meta.selectors import LabelSelector
from podless.runtime.jsonobject import Object

_MISMATCH = "`selector` does not match template `labels`"
_NAMED = (
    "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; "
    "a DNS label is recommended: "
)


def trim_template(template: Object | None, old: Object | None = None) -> None:
    """Drop disabled fields. old: the template before an update."""
    if template is not None:
        podspec.drop_disabled(template["spec"], old["spec"] if old is not None else None)


def template_labels(template: Object) -> dict[str, str]:
    """Return the labels of the template's pods."""
    labels: dict[str, str] = (template.get("metadata") or {}).get("labels") or {}
    return labels


def selector_mismatch(template: Object, path: str) -> FieldError:
    """Return the error for a selector that does not match the template's labels."""
    return field.invalid(f"{path}.metadata.labels", (template.get("metadata") or {}).get("labels"), _MISMATCH)


def parse_selector(selector: Object | None) -> LabelSelector | None:
    """Parse a label selector; None for an invalid one."""
    try:
        return selectors.from_object(selector)
    except BadRequest:
        return None


def validate_selector_matches(selector: LabelSelector, template: Object, path: str) -> list[FieldError]:
    """Require a non-empty selector to match the template's labels."""
    if selector.empty or selector.matches(template_labels(template)):
        return []
    return [selector_mismatch(template, path)]


def validate_selector(spec: Object, fault: str, empty: str) -> tuple[list[FieldError], LabelSelector | None]:
    """Validate the required selector, and parse it.

    fault: the error text for an invalid selector. empty: the error text for one that selects everything.
    """
    selector = spec.get("selector")
    if selector is None:
        return [field.required("spec.selector")], selectors.NOTHING
    errors = labelselector.validate_selector(selector, "spec.selector")
    if not selector.get("matchLabels") and not selector.get("matchExpressions"):
        errors.append(field.invalid("spec.selector", selector, empty))
    parsed = parse_selector(selector)
    return errors if parsed else [*errors, field.invalid("spec.selector", selector, fault)], parsed


def validate_always_running(template: Object, path: str, owner: str) -> list[FieldError]:
    """Require the restart policy Always and no deadline. owner: the kind in errors."""
    spec, errors = template["spec"], []
    policy = spec.get("restartPolicy") or ""
    if policy != "Always":
        errors.append(field.not_supported(f"{path}.spec.restartPolicy", policy, ["Always"]))
    if spec.get("activeDeadlineSeconds") is not None:
        detail = f"activeDeadlineSeconds in {owner} is not Supported"
        errors.append(field.forbidden(f"{path}.spec.activeDeadlineSeconds", detail))
    return errors


def name_warnings(obj: Object) -> list[str]:
    """Return a warning if the name is not a DNS label, because pods get hostnames from it."""
    faults: Sequence[str] = names.check_label_name(obj["metadata"].get("name") or "")
    return [f"{_NAMED}[{' '.join(faults)}]"] if faults else []


def warn_of_object(obj: Object, old: Object | None) -> list[str]:
    """Return the warnings about an object with a pod template. On an update, only if the generation has changed."""
    template = obj["spec"].get("template")
    if old is None:
        return [*name_warnings(obj), *(podspec.warn_of_template(template, "spec.template") if template else [])]
    if template is None or obj["metadata"].get("generation") == old["metadata"].get("generation"):
        return []
    return podspec.warn_of_template(template, "spec.template")


def validate_replica_template(
    selector: LabelSelector, replica_template: Object, old: Object | None, owner: str
) -> list[FieldError]:
    """Validate the pod template of a replica controller. old: the spec before an update. owner: the kind in errors."""
    path, before = "spec.template", old["template"] if old is not None else None
    return [
        *validate_selector_matches(selector, replica_template, path),
        *podspec.validate_pod_template(replica_template, path, before),
        *validate_always_running(replica_template, path, owner),
    ]
