"""What a pod leaves out, filled in: the defaults of PodSpec, alike in pods and in templates, and those of pods alone.

The functions change what they are given. Source: Kubernetes' pkg/apis/core/v1 (defaults, conversion).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from podless.kinds.builtin.podspec import amounts, images
from podless.kinds.strategy import Object
from podless.meta import quantity
from podless.meta.sorting import by_name

_MODE = 0o644
_HOUR = 3600
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_PROBE = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}
_CONTAINERS = ("containers", "initContainers", "ephemeralContainers")
# annotations that older servers kept init containers in
_DROPPED_ANNOTATIONS = frozenset(
    f"pod.{stage}.kubernetes.io/{what}"
    for stage in ("beta", "alpha")
    for what in ("init-containers", "init-container-statuses")
)
# volume type -> its defaults
_VOLUMES: dict[str, dict[str, Any]] = {
    "hostPath": {"type": ""},
    "secret": {"defaultMode": _MODE},
    "configMap": {"defaultMode": _MODE},
    "downwardAPI": {"defaultMode": _MODE},
    "projected": {"defaultMode": _MODE},
    "iscsi": {"iscsiInterface": "default"},
    "rbd": {"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"},
    "azureDisk": {"cachingMode": "ReadWrite", "fsType": "ext4", "readOnly": False, "kind": "Shared"},
    "scaleIO": {"storageMode": "ThinProvisioned", "fsType": "xfs"},
}


def default_pod(obj: Object) -> None:
    """A pod, with its metadata and status."""
    spec = obj["spec"]
    _requests(spec)
    spec.setdefault("enableServiceLinks", True)
    if spec.get("hostNetwork"):
        for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
            for port in container.get("ports") or ():
                if not port.get("hostPort") and port.get("containerPort"):
                    port["hostPort"] = port["containerPort"]
    default_pod_spec(spec)
    if spec["terminationGracePeriodSeconds"] < 0:
        spec["terminationGracePeriodSeconds"] = 1
    _drop_annotations(obj["metadata"])
    _status(obj.get("status") or {})


def default_pod_template(template: Object) -> None:
    """The template of pods in another object: metadata and spec."""
    _drop_annotations(template.setdefault("metadata", {}))
    default_pod_spec(template.setdefault("spec", {}))


def default_pod_spec(spec: Object) -> None:
    """What every PodSpec gets, be it a pod's or a template's."""
    _fill(spec, {"dnsPolicy": "ClusterFirst", "restartPolicy": "Always", "schedulerName": "default-scheduler"})
    spec.setdefault("terminationGracePeriodSeconds", 30)
    spec.setdefault("securityContext", {})
    account = spec.get("serviceAccountName") or spec.get("serviceAccount")
    if account:
        spec["serviceAccountName"] = spec["serviceAccount"] = account
    for volume in spec.get("volumes") or ():
        _volume(volume)
    for part in _CONTAINERS:
        for container in spec.get(part) or ():
            _container(container)
    quantity.rounded(spec.get("overhead"))
    _round(spec.get("resources"))


def default_claim_spec(spec: Object) -> None:
    """The spec of a claim for a volume."""
    spec.setdefault("volumeMode", "Filesystem")
    _round(spec.get("resources"))


def _fill(obj: Object, given: dict[str, Any]) -> None:
    """Fills in what is not there, or empty."""
    for name, value in given.items():
        if not obj.get(name) and obj.get(name) != value:
            obj[name] = value


def _round(resources: Object | None) -> None:
    for part in ("limits", "requests"):
        quantity.rounded((resources or {}).get(part))


def _drop_annotations(metadata: Object) -> None:
    annotations = metadata.get("annotations")
    if annotations and not _DROPPED_ANNOTATIONS.isdisjoint(annotations):
        kept = {name: value for name, value in annotations.items() if name not in _DROPPED_ANNOTATIONS}
        metadata["annotations"] = kept
        if not kept:
            del metadata["annotations"]


def _requests(spec: Object) -> None:
    """What is limited is asked for, too."""
    for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
        resources = container.get("resources") or {}
        if limits := resources.get("limits"):
            resources["requests"] = _sorted({**limits, **(resources.get("requests") or {})})
    own = spec.get("resources")
    if not own or not (own.get("limits") or own.get("requests")):
        return
    limits, requests = dict(own.get("limits") or {}), dict(own.get("requests") or {})
    for name, amount in amounts.total(spec, "limits").items():
        if name.startswith(amounts.HUGE_PAGES) and name not in requests:
            limits.setdefault(name, amount)
    if limits:
        own["limits"] = _sorted(limits)
        for name, amount in amounts.total(spec, "requests").items():
            if name in ("cpu", "memory"):
                requests.setdefault(name, amount)
        for name, amount in limits.items():
            if name in ("cpu", "memory") or name.startswith(amounts.HUGE_PAGES):
                requests.setdefault(name, amount)
    if requests:
        own["requests"] = _sorted(requests)


def _sorted(found: dict[str, str]) -> dict[str, str]:
    return by_name(found)


def _volume(volume: Object) -> None:
    if len(volume) == 0 or (len(volume) == 1 and "name" in volume):
        volume["emptyDir"] = {}
        return
    for kind, given in _VOLUMES.items():
        source = volume.get(kind)
        if source is not None:
            for name, value in given.items():
                if source.get(name) is None or (source[name] == "" and kind not in ("azureDisk", "hostPath")):
                    source[name] = value
    image = volume.get("image")
    if image is not None and not image.get("pullPolicy"):
        image["pullPolicy"] = _pull_policy(image.get("reference", ""))
    for item in (volume.get("downwardAPI") or {}).get("items") or ():
        _field_ref(item.get("fieldRef"))
    for source in (volume.get("projected") or {}).get("sources") or ():
        for item in (source.get("downwardAPI") or {}).get("items") or ():
            _field_ref(item.get("fieldRef"))
        if (token := source.get("serviceAccountToken")) is not None:
            token.setdefault("expirationSeconds", _HOUR)
    template = (volume.get("ephemeral") or {}).get("volumeClaimTemplate")
    if template is not None:
        default_claim_spec(template.setdefault("spec", {}))


def _field_ref(ref: Object | None) -> None:
    if ref is not None and not ref.get("apiVersion"):
        ref["apiVersion"] = "v1"


def _pull_policy(image: str) -> str:
    return "Always" if images.is_latest(image) else "IfNotPresent"


def _container(container: Object) -> None:
    if not container.get("imagePullPolicy"):
        container["imagePullPolicy"] = _pull_policy(container.get("image", ""))
    _fill(container, {"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"})
    for port in container.get("ports") or ():
        _fill(port, {"protocol": "TCP"})
    for variable in container.get("env") or ():
        source = variable.get("valueFrom") or {}
        _field_ref(source.get("fieldRef"))
        if (file := source.get("fileKeyRef")) is not None:
            file.setdefault("optional", False)
    _round(container.get("resources"))
    for action in _actions(container):
        _fill(action, {"path": "/", "scheme": "HTTP"})


def _actions(container: Object) -> Iterator[Object]:
    """The HTTP requests of a container's probes and hooks. Fills in what the probes themselves leave out."""
    for name in _PROBES:
        probe = container.get(name)
        if probe is None:
            continue
        _fill(probe, _PROBE)
        if probe.get("grpc") is not None and probe["grpc"].get("service") is None:
            probe["grpc"]["service"] = ""
        if probe.get("httpGet") is not None:
            yield probe["httpGet"]
    lifecycle = container.get("lifecycle") or {}
    for name in ("postStart", "preStop"):
        if (lifecycle.get(name) or {}).get("httpGet") is not None:
            yield lifecycle[name]["httpGet"]


def _status(status: Object) -> None:
    """The status of a pod: its first address in both fields, amounts rounded."""
    ip, ips = status.get("podIP"), status.get("podIPs")
    if ip and (not ips or ips[0].get("ip", "") != ip):
        status["podIPs"] = [{"ip": ip}]
    elif ips and ips[0].get("ip"):
        status["podIP"] = ips[0]["ip"]
    for part in ("initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"):
        for container in status.get(part) or ():
            quantity.rounded(container.get("allocatedResources"))
            _round(container.get("resources"))
    quantity.rounded(status.get("allocatedResources"))
    _round(status.get("resources"))
