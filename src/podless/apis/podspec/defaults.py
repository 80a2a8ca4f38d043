"""Defaults of PodSpec, for pods and templates, and defaults of pods only.

Defaults that do not depend on other fields are in the structs (structs/defaults.py) and set before. The functions
change their arguments. Source: Kubernetes' pkg/apis/core/v1 (defaults, conversion).
"""

from __future__ import annotations

import re

from podless.apis.podspec import amounts
from podless.codec import quantity
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.sorting import sort_keys

_LATEST = "latest"
_MAX_NAME = 255
_IDENTIFIER = re.compile(r"[a-f0-9]{64}")
_LABEL = r"[a-zA-Z0-9]++(?:-++[a-zA-Z0-9]++)*+"
_DOMAIN = re.compile(rf"(?:{_LABEL}(?:\.{_LABEL})*+|\[[a-fA-F0-9:]++\])(?::[0-9]++)?+")
_WORD = r"[a-z0-9]++(?:(?:__|[._]|-++)[a-z0-9]++)*+"
_COMPONENT = re.compile(_WORD)
_TAIL = re.compile(rf"(?P<path>{_WORD}(?:/{_WORD})*+)(?::(?P<tag>\w[\w.-]{{0,127}}+))?+(?P<digest>@.*)?", re.ASCII)
_DIGESTS = re.compile(r"@sha256:[a-f0-9]{64}|@sha384:[a-f0-9]{96}|@sha512:[a-f0-9]{128}")

_CONTAINERS = ("containers", "initContainers", "ephemeralContainers")
# annotations in which older servers kept init containers
_DROPPED_ANNOTATIONS = frozenset(
    f"pod.{stage}.kubernetes.io/{noun}"
    for stage in ("beta", "alpha")
    for noun in ("init-containers", "init-container-statuses")
)


def default_pod(obj: Object) -> None:
    """Set the defaults of a pod: metadata, spec and status."""
    spec = obj["spec"]
    default_requests(spec)
    spec.setdefault("enableServiceLinks", True)
    if spec.get("hostNetwork"):
        for container in each((*(spec.get("containers") or ()), *(spec.get("initContainers") or ()))):
            for port in each(container.get("ports") or ()):
                if not port.get("hostPort") and port.get("containerPort"):
                    port["hostPort"] = port["containerPort"]
    default_pod_spec(spec)
    if spec["terminationGracePeriodSeconds"] < 0:
        spec["terminationGracePeriodSeconds"] = 1
    _drop_annotations(obj["metadata"])
    _default_status(obj.get("status") or {})


def default_pod_template(template: Object) -> None:
    """Set the defaults of a pod template: metadata and spec."""
    _drop_annotations(template.setdefault("metadata", {}))
    default_pod_spec(template.setdefault("spec", {}))


def default_pod_spec(spec: Object) -> None:
    """Set the defaults that a PodSpec gets in pods and in templates."""
    account = spec.get("serviceAccountName") or spec.get("serviceAccount")
    if account:
        spec["serviceAccountName"] = spec["serviceAccount"] = account
    for volume in each(spec.get("volumes") or ()):
        _default_volume(volume)
    for field_name in _CONTAINERS:
        for container in each(spec.get(field_name) or ()):
            if not container.get("imagePullPolicy"):
                container["imagePullPolicy"] = _pull_policy(container.get("image", ""))
            _round_resources(container.get("resources"))
    quantity.round_quantities(spec.get("overhead"))
    _round_resources(spec.get("resources"))


def default_claim_spec(spec: Object) -> None:
    """Round the resources of a PersistentVolumeClaim spec."""
    _round_resources(spec.get("resources"))


def _round_resources(resources: Object | None) -> None:
    for field_name in ("limits", "requests"):
        quantity.round_quantities((resources or {}).get(field_name))


def _drop_annotations(metadata: Object) -> None:
    annotations = metadata.get("annotations")
    if annotations and not _DROPPED_ANNOTATIONS.isdisjoint(annotations):
        remaining = {name: value for name, value in each(annotations).items() if name not in _DROPPED_ANNOTATIONS}
        metadata["annotations"] = remaining
        if not remaining:
            del metadata["annotations"]


def default_requests(spec: Object) -> None:
    """Set missing requests of containers from their limits, and of the pod from those of its containers."""
    for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
        resources = container.get("resources") or {}
        if limits := resources.get("limits"):
            resources["requests"] = sort_keys({**limits, **(resources.get("requests") or {})})
    pod_resources = spec.get("resources")
    if not pod_resources or not (pod_resources.get("limits") or pod_resources.get("requests")):
        return
    limits, requests = dict(pod_resources.get("limits") or {}), dict(pod_resources.get("requests") or {})
    for name, amount in amounts.sum_resources(spec, "limits").items():
        if name.startswith(amounts.HUGE_PAGES) and name not in requests:
            limits.setdefault(name, amount)
    if limits:
        pod_resources["limits"] = sort_keys(limits)
        for name, amount in amounts.sum_resources(spec, "requests").items():
            if name in ("cpu", "memory"):
                requests.setdefault(name, amount)
        for name, amount in each(limits).items():
            if name in ("cpu", "memory") or name.startswith(amounts.HUGE_PAGES):
                requests.setdefault(name, amount)
    if requests:
        pod_resources["requests"] = sort_keys(requests)


def _default_volume(volume: Object) -> None:
    if len(volume) == 0 or (len(volume) == 1 and "name" in volume):
        volume["emptyDir"] = {}
        return
    image = volume.get("image")
    if image is not None and not image.get("pullPolicy"):
        image["pullPolicy"] = _pull_policy(image.get("reference", ""))
    template = (volume.get("ephemeral") or {}).get("volumeClaimTemplate")
    if template is not None:
        default_claim_spec(template["spec"])


def _pull_policy(image: str) -> str:
    return "Always" if is_latest(image) else "IfNotPresent"


def _default_status(status: Object) -> None:
    """Copy the first address to podIP and podIPs, and round the quantities in a pod's status."""
    ip, ips = status.get("podIP"), status.get("podIPs")
    if ip and (not ips or ips[0].get("ip", "") != ip):
        status["podIPs"] = [{"ip": ip}]
    elif ips and ips[0].get("ip"):
        status["podIP"] = ips[0]["ip"]
    for field_name in ("initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"):
        for container in each(status.get(field_name) or ()):
            quantity.round_quantities(container.get("allocatedResources"))
            _round_resources(container.get("resources"))
    quantity.round_quantities(status.get("allocatedResources"))
    _round_resources(status.get("resources"))


def is_latest(image: str) -> bool:
    """Return whether an image has the tag latest, or neither tag nor digest. False for an invalid image name."""
    if _IDENTIFIER.fullmatch(image):
        return False
    first, slash, remainder = image.partition("/")
    if slash and ("." in first or ":" in first or first == "localhost" or first.lower() != first):
        domain = first
    else:
        domain, remainder = "docker.io", image
    if not _DOMAIN.fullmatch(domain) and not _COMPONENT.fullmatch(domain):
        return False
    match = _TAIL.fullmatch(remainder)
    if match is None or len(domain) + 1 + len(match["path"]) > _MAX_NAME:
        return False
    if match["digest"]:
        return match["tag"] == _LATEST and _DIGESTS.fullmatch(match["digest"]) is not None
    return match["tag"] in (None, _LATEST)
