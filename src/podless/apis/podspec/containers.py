"""Validates the containers of a pod: init, regular and ephemeral ones.

Source: Kubernetes' pkg/apis/core/validation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from podless.apis.podspec import amounts, env, probes, resources, security
from podless.apis.podspec.options import PodContext
from podless.apis.shared import checks
from podless.codec.gotext import Named, Stringer
from podless.meta import field
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import has

_MESSAGES = ("File", "FallbackToLogsOnError")
_PROTOCOLS = ("SCTP", "TCP", "UDP")
_PULLS = ("Always", "IfNotPresent", "Never")
_PROPAGATIONS = ("Bidirectional", "HostToContainer", "None")
_RECURSIVE = ("Disabled", "Enabled", "IfPossible")
_RESIZED, _RESIZES = ("cpu", "memory"), ("NotRequired", "RestartContainer")
_RESTARTS = ("Always", "Never", "OnFailure")
_ACTIONS = ("Restart", "RestartAllContainers")
_MAX_RULES, _MAX_CODES = 20, 255
_BLOCK = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"
_NOT_INIT = "may not be set for init containers without restartPolicy=Always"
_NOT_EPHEMERAL = "cannot be set for an Ephemeral Container"
_OF_LASTING = ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe")  # fields of containers that keep running
# fields that ephemeral containers must not have
_REFUSED = (
    "ports", "resources", "resizePolicy", "restartPolicy", "restartPolicyRules", "livenessProbe", "readinessProbe",
    "startupProbe", "lifecycle",
)  # fmt: skip


def visit_containers(spec: Object, path: str) -> list[tuple[Object, str]]:
    """Return all containers with their paths, in the order of errors about all containers."""
    containers: list[tuple[Object, str]] = []
    for field_name in ("initContainers", "containers", "ephemeralContainers"):
        if listed := spec.get(field_name):
            containers += [(container, f"{path}.{field_name}[{index}]") for index, container in enumerate(each(listed))]
    return containers


def list_restarting_policies(container: Object, path: str) -> Iterator[str]:
    """Yield the paths of the resize policies that restart a container."""
    for policy, at in checks.list_items(container, "resizePolicy", path):
        if policy.get("restartPolicy") == "RestartContainer":
            yield at


def validate_containers(path: str, pod: PodContext) -> field.Errors:
    """Validate spec.containers. path: of the PodSpec."""
    if not pod.spec.get("containers"):
        yield field.required(f"{path}.containers")
    seen: set[str] = set()
    for container, at in checks.list_items(pod.spec, "containers", path):
        yield from _validate_common(container, at, pod)
        yield from checks.validate_unique(f"{at}.name", container.get("name", ""), seen)
        if container.get("lifecycle") is not None:
            yield from probes.validate_lifecycle(container["lifecycle"], f"{at}.lifecycle", pod)
        yield from probes.validate_probes(container, at, pod)
        if container.keys().isdisjoint(("restartPolicy", "restartPolicyRules")):
            continue
        if has("ContainerRestartPolicies"):
            yield from _validate_restart(container, at)
        elif container.get("restartPolicy") is not None:
            yield field.forbidden(f"{at}.restartPolicy", "may not be set for non-init containers")
    yield from _validate_host_ports(pod.spec.get("containers") or [], f"{path}.containers")


def validate_init_containers(path: str, pod: PodContext) -> field.Errors:
    """Validate spec.initContainers. path: of the PodSpec."""
    seen = {container.get("name", "") for container in each(pod.spec.get("containers") or ())}
    for container, at in checks.list_items(pod.spec, "initContainers", path):
        name = container.get("name", "")
        yield from _validate_common(container, at, pod)
        yield from _validate_restart(container, at, first=True)
        if name in seen:
            yield field.duplicate(f"{at}.name", name)
        elif name:
            seen.add(name)
        yield from _validate_host_ports([container], f"{path}.initContainers")
        if amounts.is_sidecar(container):
            if container.get("lifecycle") is not None:
                yield from probes.validate_lifecycle(container["lifecycle"], f"{at}.lifecycle", pod)
            yield from probes.validate_probes(container, at, pod)
            continue
        yield from (field.forbidden(f"{at}.{key}", _NOT_INIT) for key in _OF_LASTING if container.get(key) is not None)
        for policy_path in list_restarting_policies(container, at) if not pod.options.allow_restarting else ():
            reason = "must not be set to 'RestartContainer' for non-sidecar initContainers"
            yield field.invalid(f"{policy_path}.restartPolicy", "RestartContainer", reason)


def validate_ephemeral_containers(path: str, pod: PodContext) -> field.Errors:
    """Validate ephemeralContainers. path: of the PodSpec."""
    others = (*(pod.spec.get("containers") or ()), *(pod.spec.get("initContainers") or ()))
    other_names = {container.get("name", "") for container in each(others)}
    seen = set(other_names)
    for container, at in checks.list_items(pod.spec, "ephemeralContainers", path):
        yield from _validate_common(container, at, pod)
        yield from validate_image_spaces(container, at)
        yield from checks.validate_unique(f"{at}.name", container.get("name", ""), seen)
        target = container.get("targetContainerName")
        if target and target not in other_names:
            yield FieldError("FieldValueNotFound", f"{at}.targetContainerName", target)
        for refused in _REFUSED:
            if container.get(refused) or (refused == "lifecycle" and refused in container):
                yield field.forbidden(f"{at}.{refused}", _NOT_EPHEMERAL)
        for mount, mount_path in checks.list_items(container, "volumeMounts", at):
            for sub in ("subPath", "subPathExpr"):
                if mount.get(sub):
                    yield field.forbidden(f"{mount_path}.{sub}", _NOT_EPHEMERAL)


def validate_image_spaces(container: Object, path: str) -> field.Errors:
    """Reject spaces around an image name in a pod. Templates may have them."""
    image = container.get("image", "")
    if image.strip() != image:
        yield field.invalid(f"{path}.image", image, "must not have leading or trailing whitespace")


def _validate_common(container: Object, path: str, pod: PodContext) -> field.Errors:
    """Validate the common fields of all types of containers."""
    yield from checks.validate_name(f"{path}.name", container.get("name", ""))
    yield from checks.require_fields(container, path, "image")
    message = container.get("terminationMessagePolicy")
    yield from checks.validate_enum(f"{path}.terminationMessagePolicy", message, _MESSAGES)
    if container.get("ports"):
        yield from _validate_ports(container, path)
    if container.get("env") or container.get("envFrom"):
        yield from env.validate_env(container, path, relaxed=pod.options.allow_relaxed_variables)
    if container.get("volumeMounts"):
        yield from _validate_mounts(container, path, pod.volumes)
    if container.get("volumeDevices"):
        yield from _validate_devices(container, path, pod.volumes)
    yield from checks.validate_enum(f"{path}.imagePullPolicy", container.get("imagePullPolicy"), _PULLS)
    if container.get("resources"):
        at, indivisible = f"{path}.resources", pod.options.allow_indivisible
        yield from resources.validate_resources(container["resources"], at, pod.claims, indivisible=indivisible)
    if container.get("resizePolicy"):
        yield from _validate_resize(container, path, pod.spec.get("restartPolicy", ""))
    context, host_users = container.get("securityContext"), pod.spec.get("hostUsers") is not False
    yield from security.validate_container_context(context, f"{path}.securityContext", host_users)


def _validate_ports(container: Object, path: str) -> field.Errors:
    seen: set[str] = set()
    for port, at in checks.list_items(container, "ports", path):
        if name := port.get("name"):
            errors = list(checks.validate_port(f"{at}.name", name))
            yield from errors or checks.validate_unique(f"{at}.name", name, seen)
            seen.add(name)
        if not port.get("containerPort"):
            yield field.required(f"{at}.containerPort")
        else:
            yield from checks.validate_port_number(f"{at}.containerPort", port["containerPort"])
        if port.get("hostPort"):
            yield from checks.validate_port_number(f"{at}.hostPort", port["hostPort"])
        yield from checks.validate_enum(f"{at}.protocol", port.get("protocol"), _PROTOCOLS)


def _validate_host_ports(containers: list[Object], path: str) -> field.Errors:
    """Reject host ports that two containers share."""
    seen: set[str] = set()
    for position, container in enumerate(each(containers)):
        for index, port in enumerate(each(container.get("ports") or ())):
            if port.get("hostPort"):
                host_port = f"{port.get('protocol', '')}/{port.get('hostIP', '')}/{port['hostPort']}"
                yield from checks.validate_unique(f"{path}[{position}].ports[{index}].hostPort", host_port, seen)


def _validate_resize(container: Object, container_path: str, restart: str) -> field.Errors:
    seen: set[str] = set()
    path = f"{container_path}.resizePolicy"
    for entry, at in checks.list_items(container, "resizePolicy", container_path):
        name, policy = Stringer(entry.get("resourceName", "")), entry.get("restartPolicy", "")
        yield from checks.validate_unique(at, name, seen)
        yield from checks.validate_enum(path, name, _RESIZED)
        yield from checks.validate_enum(path, policy, _RESIZES)
        if restart == "Never" and policy != "NotRequired":
            yield field.invalid(path, Named(policy), "must be 'NotRequired' when pod `restartPolicy` is 'Never'")


def _validate_restart(container: Object, path: str, *, first: bool = False) -> field.Errors:
    """Validate the restart policy and restart rules of a container. first: it is an init container."""
    policy, rules = container.get("restartPolicy"), container.get("restartPolicyRules") or []
    yield from field.one_of(f"{path}.restartPolicy", policy, _RESTARTS)
    if policy is None and rules:
        yield field.required(f"{path}.restartPolicy", "must specify restartPolicy when restart rules are used")
        if first:
            return
    if len(rules) > _MAX_RULES:
        yield field.too_many(f"{path}.restartPolicyRules", len(rules), _MAX_RULES)
    for rule, at in checks.list_items(container, "restartPolicyRules", path):
        codes = rule.get("exitCodes")
        actions = _ACTIONS if has("RestartAllContainersOnContainerExits") else _ACTIONS[:1]
        yield from field.one_of(f"{at}.action", rule.get("action", ""), actions)
        if codes is None:
            yield field.required(f"{at}.exitCodes", "must be specified")
            continue
        yield from field.one_of(f"{at}.exitCodes.operator", codes.get("operator", ""), ("In", "NotIn"))
        if len(codes.get("values") or ()) > _MAX_CODES:
            yield field.too_many(f"{at}.exitCodes.values", len(codes["values"]), _MAX_CODES)


def _validate_mounts(container: Object, container_path: str, volumes: Mapping[str, Object]) -> field.Errors:
    """Validate the volume mounts of a container. volumes: the pod's valid volumes by name."""
    path, device_paths = f"{container_path}.volumeMounts", _volume_paths(container, "volumeDevices", "devicePath")
    occupied, privileged = (
        set(device_paths.values()),
        (container.get("securityContext") or {}).get("privileged") is True,
    )
    seen: set[str] = set()
    for mount, at in checks.list_items(container, "volumeMounts", container_path):
        name, mount_path = mount.get("name", ""), mount.get("mountPath", "")
        if not name:
            yield field.required(f"{at}.name")
        if name not in volumes:
            yield FieldError("FieldValueNotFound", f"{at}.name", name)
        if not mount_path:
            yield field.required(f"{at}.mountPath")
        if mount_path in seen:
            yield field.invalid(f"{at}.mountPath", mount_path, "must be unique")
        seen.add(mount_path)
        if name in device_paths:
            yield field.invalid(f"{at}.name", name, "must not already exist in volumeDevices")
        if mount_path in occupied:
            yield field.invalid(f"{at}.mountPath", mount_path, "must not already exist as a path in volumeDevices")
        sub_path, expression = mount.get("subPath"), mount.get("subPathExpr")
        if sub_path:
            yield from checks.validate_descending(f"{path}.subPath", sub_path)
        if sub_path and expression:
            yield field.invalid(f"{at}.subPathExpr", expression, "subPathExpr and subPath are mutually exclusive")
        if expression:
            yield from checks.validate_descending(f"{path}.subPathExpr", expression)
        yield from _validate_propagation(mount, path, privileged)


def _volume_paths(container: Object, key: str, path_key: str) -> dict[str, str]:
    """Return the path of each volume in the mounts or devices of a container; the last one counts."""
    return {item.get("name", ""): item.get(path_key, "") for item in each(container.get(key) or ())}


def _validate_propagation(mount: Object, path: str, privileged: bool) -> field.Errors:
    mount_propagation, recursive = mount.get("mountPropagation"), mount.get("recursiveReadOnly")
    yield from field.one_of(f"{path}.mountPropagation", mount_propagation, _PROPAGATIONS)
    if mount_propagation == "Bidirectional" and not privileged:
        text = "Bidirectional mount propagation is available only to privileged containers"
        yield field.forbidden(f"{path}.mountPropagation", text)
    if recursive is None:
        return
    read_only_path = f"{path}.recursiveReadOnly"
    yield from field.one_of(read_only_path, recursive, _RECURSIVE)
    if recursive in ("Enabled", "IfPossible"):
        if not mount.get("readOnly"):
            yield field.forbidden(read_only_path, "may only be specified when readOnly is true")
        if mount_propagation not in (None, "None"):
            text = "may only be specified when mountPropagation is None or not specified"
            yield field.forbidden(read_only_path, text)


def _validate_devices(container: Object, path: str, volumes: Mapping[str, Object]) -> field.Errors:
    """Validate the block devices of a container, whose volumes must be claims."""
    mount_paths = _volume_paths(container, "volumeMounts", "mountPath")
    occupied = set(mount_paths.values())
    seen_names: set[str] = set()
    seen_paths: set[str] = set()
    for device, at in checks.list_items(container, "volumeDevices", path):
        name, file_path = device.get("name", ""), device.get("devicePath", "")
        volume = volumes.get(name)
        yield from checks.require_fields(device, at, "name")
        if name in seen_names:
            yield field.invalid(f"{at}.name", name, "must be unique")
        if volume is None:
            yield FieldError("FieldValueNotFound", f"{at}.name", name)
        elif volume.get("persistentVolumeClaim") is None and volume.get("ephemeral") is None:
            yield field.invalid(f"{at}.name", name, _BLOCK)
        yield from checks.require_fields(device, at, "devicePath")
        if file_path in seen_paths:
            yield field.invalid(f"{at}.devicePath", file_path, "must be unique")
        if ".." in file_path.split("/"):
            yield field.invalid(f"{at}.devicePath", file_path, "can not contain backsteps ('..')")
        else:
            seen_paths.add(file_path)
        if name in mount_paths:
            yield field.invalid(f"{at}.name", name, "must not already exist in volumeMounts")
        if file_path in occupied:
            yield field.invalid(f"{at}.devicePath", file_path, "must not already exist as a path in volumeMounts")
        if name:
            seen_names.add(name)
