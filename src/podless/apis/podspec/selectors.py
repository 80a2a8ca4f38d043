"""Completes a new pod: label selectors from matchLabelKeys, and AppArmor fields from annotations or back.

Source: Kubernetes' pkg/registry/core/pod (strategy.go).
"""

from __future__ import annotations

from collections.abc import Iterator

from podless.apis.podspec import containers, marks, security
from podless.apis.podspec.affinity import TERMS
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import has

_KEYS = {"matchLabelKeys": "In", "mismatchLabelKeys": "NotIn"}


def complete_selectors(spec: Object, labels: dict[str, str]) -> None:
    """Merge matchLabelKeys and mismatchLabelKeys into the label selectors. labels: of the pod."""
    for term in _list_terms(spec):
        selector = term.get("labelSelector")
        if selector is None:
            continue
        for name, operator in _KEYS.items():
            for key in each(term.get(name) or ()):
                if key in labels:
                    added = {"key": key, "operator": operator, "values": [labels[key]]}
                    selector.setdefault("matchExpressions", []).append(added)


def _list_terms(spec: Object) -> Iterator[Object]:
    affinity = spec.get("affinity") or {}
    for name in ("podAffinity", "podAntiAffinity") if affinity else ():
        for field_name in TERMS:
            for term in each((affinity.get(name) or {}).get(field_name) or ()):
                yield term.get("podAffinityTerm") or term
    if has("MatchLabelKeysInPodTopologySpreadSelectorMerge"):
        yield from each(spec.get("topologySpreadConstraints") or ())


def set_apparmor_fields(obj: Object) -> None:
    """Set appArmorProfile of containers from the annotations."""
    for container, _, profile in _list_unconfined(obj):
        if profile is not None:
            container["securityContext"] = {**(container.get("securityContext") or {}), "appArmorProfile": profile}


def set_apparmor_annotations(obj: Object) -> None:
    """Set the AppArmor annotations from the fields."""
    spec = obj["spec"]
    if (spec.get("os") or {}).get("name") == "windows":
        return
    of_pod = (spec.get("securityContext") or {}).get("appArmorProfile")
    added = {}
    for container, _ in containers.visit_containers(spec, ""):
        profile = (container.get("securityContext") or {}).get("appArmorProfile") or of_pod
        if profile and (written := marks.annotation_of(profile)):
            added[marks.APP_ARMOR + container.get("name", "")] = written
    if added:
        obj["metadata"]["annotations"] = {**added, **(obj["metadata"].get("annotations") or {})}


def list_apparmor_annotations(obj: Object) -> list[str]:
    """Return the annotations with AppArmor profiles of containers that lack the field."""
    return [key for _, key, _ in _list_unconfined(obj)]


def _list_unconfined(obj: Object) -> Iterator[tuple[Object, str, Object | None]]:
    """Yield containers with an AppArmor annotation and no profile: container, annotation, and profile or None."""
    annotations, spec = obj["metadata"].get("annotations") or {}, obj["spec"]
    if not any(key.startswith(marks.APP_ARMOR) for key in each(annotations)):
        return
    if (spec.get("os") or {}).get("name") == "windows":
        return
    of_pod = (spec.get("securityContext") or {}).get("appArmorProfile")
    for container, _ in containers.visit_containers(spec, ""):
        key = marks.APP_ARMOR + container.get("name", "")
        annotation = annotations.get(key)
        if annotation is None or (container.get("securityContext") or {}).get("appArmorProfile") is not None:
            continue
        profile = marks.profile_of(annotation)
        if profile is not None and any(True for _ in security.app_armor(profile, "")):
            profile = None
        if profile is None or profile != of_pod:
            yield container, key, profile
