"""Warnings about accepted pods and templates.

Source: Kubernetes' pkg/api/pod (warnings.go) and pkg/api/node.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from podless.apis.podspec import containers, podannotations
from podless.apis.podspec.affinity import PREFERRED, REQUIRED, list_pod_terms
from podless.apis.shared import nodelabels
from podless.apis.shared.checks import list_items
from podless.codec import quantity
from podless.codec.gotext import quote
from podless.meta import addresses, names
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import has

_LABELS = {
    **{label: nodelabels.warn_of_label(label) for label in nodelabels.RENAMED},
    "app.kubernetes.io/created-by": "deprecated since v1.9",
    "scheduler.alpha.kubernetes.io/preferAvoidPods": "deprecated since v1.22; use Taints and Tolerations instead",
    "node-role.kubernetes.io/master": 'use "node-role.kubernetes.io/control-plane" instead',
}
_ANNOTATIONS = {
    "scheduler.alpha.kubernetes.io/critical-pod": 'non-functional in v1.16+; use the "priorityClassName" field instead',
    "security.alpha.kubernetes.io/sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
    "security.alpha.kubernetes.io/unsafe-sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
}
# volume type: its name in warnings, and the text
VOLUMES = {
    "photonPersistentDisk": ("photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"),
    "gitRepo": ("gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"),
    "scaleIO": ("scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    "flocker": ("flocker", "deprecated in v1.22, non-functional in v1.25+"),
    "storageos": ("storageOS", "deprecated in v1.22, non-functional in v1.25+"),
    "quobyte": ("quobyte", "deprecated in v1.22, non-functional in v1.25+"),
    "glusterfs": ("glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    "cephfs": ("cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    "rbd": ("rbd", "deprecated in v1.28, non-functional in v1.31+"),
}
_NEGATIVE = "must be >= 0; negative values are invalid and will be treated as 1"
_NO_PODS = "a null labelSelector results in matching no pod"
_SECCOMP = 'non-functional in v1.27+; use the "seccompProfile" field instead'
APP_ARMOR = 'deprecated since v1.30; use the "appArmorProfile" field instead'
_BYTES = ("memory", "ephemeral-storage")
_MAX_PORTS = 64  # maximum ports with one number that are compared with each other
_MAX_OVERLAPS = 256  # maximum number of warnings about a volume


def warn_of_pod(obj: Object) -> list[str]:
    """Return the warnings about a pod."""
    return list(_list_warnings(obj["metadata"], obj["spec"], ""))


def warn_of_template(template: Object, path: str) -> list[str]:
    """Return the warnings about a pod template. path: of the template, such as spec.template."""
    return list(_list_warnings(template.get("metadata") or {}, template.get("spec") or {}, f"{path}."))


def _list_warnings(metadata: Object, spec: Object, path: str) -> Iterator[str]:
    spec_path, notes = f"{path}spec", metadata.get("annotations") or {}
    visited = containers.visit_containers(spec, spec_path)
    yield from _warn_of_node_labels(spec, spec_path)
    yield from _warn_of_spread(spec, spec_path)
    for key, text in _ANNOTATIONS.items():
        if key in notes:
            yield f"{path}metadata.annotations[{key}]: {text}"
    yield from _warn_of_volumes(spec, spec_path)
    yield from warn_of_overlaps(spec)
    yield from _warn_of_repeated(spec, spec_path)
    yield from _warn_of_fractions(spec, "overhead", spec_path, *_BYTES)
    if podannotations.SECCOMP_POD in notes and (spec.get("securityContext") or {}).get("seccompProfile") is None:
        yield f"{path}metadata.annotations[{podannotations.SECCOMP_POD}]: {_SECCOMP}"
    for container, at in visited:
        yield from _warn_of_container(container, at, spec, notes, path)
    yield from _warn_of_ports(visited)
    if (spec.get("terminationGracePeriodSeconds") or 0) < 0:
        yield f"{spec_path}.terminationGracePeriodSeconds: {_NEGATIVE}"
    for term, at in list_pod_terms(spec, spec_path):
        if term.get("labelSelector") is None:
            yield f"{at}.labelSelector: {_NO_PODS}"
    for server, at in list_items(spec.get("dnsConfig") or {}, "nameservers", f"{spec_path}.dnsConfig"):
        yield from addresses.list_address_warnings(at, server)
    for alias, at in list_items(spec, "hostAliases", spec_path):
        yield from addresses.list_address_warnings(f"{at}.ip", alias.get("ip", ""))


def _warn_of_node_labels(spec: Object, path: str) -> Iterator[str]:
    for key in each(spec.get("nodeSelector") or ()):
        if key in _LABELS:
            yield f"{path}.nodeSelector[{key}]: {_LABELS[key]}"
    node_affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    nodes_path = f"{path}.affinity.nodeAffinity"
    for term, at in list_items(node_affinity.get(REQUIRED) or {}, "nodeSelectorTerms", f"{nodes_path}.{REQUIRED}"):
        yield from _warn_of_node_term(term, at, values=False)
    for term, at in list_items(node_affinity, PREFERRED, nodes_path):
        yield from _warn_of_node_term(term.get("preference") or {}, f"{at}.preference", values=True)


def _warn_of_node_term(term: Object, path: str, *, values: bool) -> Iterator[str]:
    """Yield the warnings about a node selector term. values: check the values too."""
    for expression, at in list_items(term, "matchExpressions", path):
        key = expression.get("key", "")
        if key in _LABELS:
            yield f"{at}.key: {key} is {_LABELS[key]}"
        for value, value_path in list_items(expression, "values", at) if values else ():
            yield from (f"{value_path}: {value} is invalid, {text}" for text in names.check_label_value(value))


def _warn_of_spread(spec: Object, path: str) -> Iterator[str]:
    for constraint, at in list_items(spec, "topologySpreadConstraints", path):
        key = constraint.get("topologyKey", "")
        if key in _LABELS:
            yield f"{at}.topologyKey: {key} is {_LABELS[key]}"
        if constraint.get("labelSelector") is None:
            yield f"{at}.labelSelector: {_NO_PODS}"


def _warn_of_volumes(spec: Object, path: str) -> Iterator[str]:
    for volume, at in list_items(spec, "volumes", path):
        for kind, (name_in_path, text) in VOLUMES.items():
            if volume.get(kind) is not None:
                yield f"{at}.{name_in_path}: {text}"
        claim = (volume.get("ephemeral") or {}).get("volumeClaimTemplate") or {}
        yield from warn_of_claim_spec(claim.get("spec") or {}, f"{at}.ephemeral.volumeClaimTemplate.spec")


def warn_of_claim_spec(spec: Object, path: str) -> Iterator[str]:
    """Yield the warnings about the spec of a PersistentVolumeClaim."""
    for key in ("requests", "limits"):
        yield from _warn_of_fractions(spec.get("resources") or {}, key, f"{path}.resources", "storage")


def _warn_of_fractions(holder: Object, key: str, path: str, *which: str) -> Iterator[str]:
    for name in which:
        text = (holder.get(key) or {}).get(name)
        if text is not None and not quantity.is_whole(text):
            yield f"{path}.{key}[{name}]: fractional byte value {quote(text)} is invalid, must be an integer"


def _warn_of_repeated(spec: Object, path: str) -> Iterator[str]:
    for field_name, key in (("hostAliases", "ip"), ("imagePullSecrets", "name")):
        seen: set[str] = set()
        for item, at in list_items(spec, field_name, path):
            value = item.get(key, "")
            if value in seen:
                yield f"{at}.{key}: duplicate {key} {quote(value)}"
            seen.add(value)
    for item, at in list_items(spec, "imagePullSecrets", path):
        if not item.get("name"):
            yield f'{at}.name: invalid empty name ""'


def _warn_of_container(container: Object, at: str, spec: Object, notes: dict[str, str], path: str) -> Iterator[str]:
    context, name = container.get("securityContext") or {}, container.get("name", "")
    if notes:
        key = podannotations.SECCOMP + name
        if key in notes and context.get("seccompProfile") is None:
            yield f"{path}metadata.annotations[{key}]: {_SECCOMP}"
        key = podannotations.APP_ARMOR + name
        if path and key in notes and context.get("appArmorProfile") is None:
            of_pod = (spec.get("securityContext") or {}).get("appArmorProfile")
            if of_pod is None or of_pod != podannotations.profile_of(notes[key]):
                yield f"{path}metadata.annotations[{key}]: {APP_ARMOR}"
    for kind in _BYTES:
        for key in ("limits", "requests"):
            yield from _warn_of_fractions(container.get("resources") or {}, key, f"{at}.resources", kind)
    yield from _warn_of_hidden(container, at)


def _warn_of_hidden(container: Object, path: str) -> Iterator[str]:
    """Yield warnings about variables that override earlier ones."""
    seen: set[str] = set()
    for variable, at in list_items(container, "env", path):
        name, value = variable.get("name", ""), variable.get("value", "")
        if name in seen:
            ref = f"$({name})"
            if variable.get("valueFrom") is not None or value == ref or ref not in value:
                text = f"hides previous definition of {quote(name)}, which may be dropped when using apply"
                yield f"{at}: {text}"
        seen.add(name)


def _warn_of_ports(visited: list[tuple[Object, str]]) -> Iterator[str]:
    """Yield warnings about ports that are defined twice."""
    ports_by_number: dict[tuple[int, str], list[tuple[str, Object]]] = {}
    named: dict[str, str] = {}
    texts = []
    for container, at in visited:
        for port, port_path in list_items(container, "ports", at):
            name = port.get("name")
            if port.get("hostIP") and not port.get("hostPort"):
                yield f"{port_path}: hostIP set without hostPort: {_format_port(port)}"
            earlier_ports = ports_by_number.setdefault((port.get("containerPort", 0), port.get("protocol", "")), [])
            yield from _same_port(port_path, port, earlier_ports)
            if len(earlier_ports) < _MAX_PORTS:
                earlier_ports.append((port_path, port))
            if name and name in named:
                first = named[name]
                text = f"duplicate port name {quote(name)} with {first}, services and probes that select ports by name"
                texts.append(f"{port_path}: {text} will use {first}")
            elif name:
                named[name] = port_path
    yield from texts


def _same_port(port_path: str, port: Object, earlier_ports: list[tuple[str, Object]]) -> Iterator[str]:
    host, ip = port.get("hostPort") or 0, port.get("hostIP") or ""
    for at, earlier in earlier_ports:
        earlier_host, earlier_ip = earlier.get("hostPort") or 0, earlier.get("hostIP") or ""
        if (host, ip) == (earlier_host, earlier_ip):
            yield f"{port_path}: duplicate port definition with {at}"
        elif not host or not earlier_host:
            yield f"{port_path}: overlapping port definition with {at}"
        elif host == earlier_host and bool(ip) != bool(earlier_ip):
            yield f"{port_path}: dangerously ambiguous port definition with {at}"


def _format_port(port: Object) -> str:
    """Format a port as Go prints the struct."""
    fields = ("name", "hostPort", "containerPort", "protocol", "hostIP")
    values = {name: port.get(name) or (0 if "Port" in name else "") for name in fields}
    return "{" + " ".join(f"{name[0].upper()}{name[1:]}:{value}" for name, value in values.items()) + "}"


class File(NamedTuple):
    """A file of a volume, and its source."""

    path: str
    source: str

    def __str__(self) -> str:
        return f"{quote(self.path)} ({self.source})" if self.source else quote(self.path)


def warn_of_overlaps(spec: Object) -> Iterator[str]:
    """Yield warnings about files that overlap in volumes: equal paths, or a file where another path has a directory."""
    for volume in spec.get("volumes") or ():
        name = quote(volume.get("name", ""))
        for kind, key, source_kind in (("configMap", "name", "ConfigMap"), ("secret", "secretName", "Secret")):
            source = volume.get(kind)
            if source is not None:
                described = f"{source_kind} {quote(source.get(key, ''))}"
                yield from _find_clashes(_list_files(source, ""), f"volume {name} ({described})")
        if volume.get("downwardAPI") is not None:
            yield from _find_clashes(_list_files(volume["downwardAPI"], ""), f"volume {name} (DownwardAPI)")
        if volume.get("projected") is not None:
            sources = volume["projected"].get("sources") or ()
            for entry in each(sources):
                if not any(value is not None for value in entry.values()):
                    yield f"volume {name} (Projected) has no sources provided"
            files = [file for entry in sources for file in _list_projected(entry)]
            yield from _find_clashes(files, f"volume {name} (Projected)")


def _list_files(source: Object, named: str) -> list[File]:
    return [File(item.get("path", ""), named) for item in each(source.get("items") or ())]


def _list_projected(source: Object) -> list[File]:
    for kind, source_kind in (("configMap", "ConfigMap"), ("secret", "Secret")):
        source_value = source.get(kind)
        if source_value is not None and source_value.get("items"):
            return _list_files(source_value, f"{source_kind} {quote(source_value.get('name', ''))}")
    if (source.get("downwardAPI") or {}).get("items"):
        files = _list_files(source["downwardAPI"], "DownwardAPI")
        return files if has("OverlapsOfOthers") else files * 2  # older releases report that each file overlaps itself
    token = source.get("serviceAccountToken")
    return [File(token.get("path", ""), "ServiceAccountToken")] if token is not None else []


class _Folder:
    """The files at one path, by index. ending_here: those with this path. all_below: those and all in the directory."""

    __slots__ = ("all_below", "ending_here", "folders")

    def __init__(self) -> None:
        self.ending_here: list[int] = []
        self.all_below: list[int] = []
        self.folders: dict[str, _Folder] = {}


def _find_clashes(listed: list[File], head: str) -> Iterator[str]:
    files = [File(file.path.rstrip("/"), file.source) for file in listed]
    top, remaining = _Folder(), _MAX_OVERLAPS
    for index, file in enumerate(files):
        if not file.path:
            continue
        for earlier in _insert_file(top, file.path, index)[:remaining]:
            yield f"{head}: overlapping paths: {file} with {files[earlier]}"
            remaining -= 1


def _insert_file(top: _Folder, path: str, index: int) -> list[int]:
    """Insert a file. Returns the earlier files that overlap it."""
    overlapping: list[int] = []
    folder = top
    for step in each(path.split("/")):
        overlapping += folder.ending_here
        folder.all_below.append(index)
        folder = folder.folders.setdefault(step, _Folder())
    overlapping += folder.all_below
    folder.all_below.append(index)
    folder.ending_here.append(index)
    return sorted(overlapping)
