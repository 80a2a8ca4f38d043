"""Validates the containers of a pod: init, regular and ephemeral ones.

Source: Kubernetes' pkg/apis/core/validation.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Set

from podless.apis.podspec import amounts, env, probes, resources, security
from podless.apis.podspec.options import PodOptions
from podless.apis.podspec.probes import Around
from podless.apis.shared import checks
from podless.codec.gotext import Named, Stringer
from podless.meta import field
from podless.meta.field import FieldError
from podless.runtime.dataclass import dataclass
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import has

# validates volume mounts and devices of containers. Source: Kubernetes' pkg/apis/core/validation

_PROPAGATIONS = ("Bidirectional", "HostToContainer", "None")
_RECURSIVE = ("Disabled", "Enabled", "IfPossible")
_BLOCK = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"


def validate_mounts(container: Object, path: str, volumes: Mapping[str, Object]) -> field.Errors:
    """Validate the mounts and devices of a container. volumes: the pod's valid volumes by name."""
    mounts, devices = container.get("volumeMounts") or [], container.get("volumeDevices") or []
    if mounts:
        yield from _validate_mounts(mounts, devices, f"{path}.volumeMounts", volumes, _is_privileged(container))
    if devices:
        yield from _validate_devices(devices, mounts, f"{path}.volumeDevices", volumes)


def _is_privileged(container: Object) -> bool:
    return (container.get("securityContext") or {}).get("privileged") is True


def _volume_paths(items: list[Object], key: str) -> dict[str, str]:
    """Return the path of each volume; the last one counts."""
    return {item.get("name", ""): item.get(key, "") for item in each(items)}


def _validate_mounts(
    mounts: list[Object], devices: list[Object], path: str, volumes: Mapping[str, Object], privileged: bool
) -> field.Errors:
    device_paths = _volume_paths(devices, "devicePath")
    occupied = set(device_paths.values())
    seen: set[str] = set()
    for index, mount in enumerate(each(mounts)):
        item_path = f"{path}[{index}]"
        name, mount_path = mount.get("name", ""), mount.get("mountPath", "")
        if not name:
            yield field.required(f"{item_path}.name")
        if name not in volumes:
            yield FieldError("FieldValueNotFound", f"{item_path}.name", name)
        if not mount_path:
            yield field.required(f"{item_path}.mountPath")
        if mount_path in seen:
            yield field.invalid(f"{item_path}.mountPath", mount_path, "must be unique")
        seen.add(mount_path)
        yield from _validate_overlap(item_path, "mountPath", name, mount_path, device_paths, occupied, "volumeDevices")
        yield from _sub_paths(mount, path, item_path)
        yield from _validate_propagation(mount, path, privileged)


def _validate_overlap(
    at: str,
    key: str,
    name: str,
    file: str,
    taken_names: Mapping[str, str],
    taken_paths: Collection[str],
    other_field: str,
) -> field.Errors:
    if name in taken_names:
        yield field.invalid(f"{at}.name", name, f"must not already exist in {other_field}")
    if file in taken_paths:
        yield field.invalid(f"{at}.{key}", file, f"must not already exist as a path in {other_field}")


def _sub_paths(mount: Object, path: str, item_path: str) -> field.Errors:
    sub_path, expression = mount.get("subPath"), mount.get("subPathExpr")
    if sub_path:
        yield from checks.validate_descending(f"{path}.subPath", sub_path)
    if expression:
        if sub_path:
            text = "subPathExpr and subPath are mutually exclusive"
            yield field.invalid(f"{item_path}.subPathExpr", expression, text)
        yield from checks.validate_descending(f"{path}.subPathExpr", expression)


def _validate_propagation(mount: Object, path: str, privileged: bool) -> field.Errors:
    mount_propagation, recursive = mount.get("mountPropagation"), mount.get("recursiveReadOnly")
    yield from field.one_of(f"{path}.mountPropagation", mount_propagation, _PROPAGATIONS)
    if mount_propagation == "Bidirectional" and not privileged:
        text = "Bidirectional mount propagation is available only to privileged containers"
        yield field.forbidden(f"{path}.mountPropagation", text)
    if recursive is None or recursive == "Disabled":
        return
    read_only_path = f"{path}.recursiveReadOnly"
    if recursive not in _RECURSIVE:
        yield field.not_supported(read_only_path, recursive, _RECURSIVE)
        return
    if not mount.get("readOnly"):
        yield field.forbidden(read_only_path, "may only be specified when readOnly is true")
    if mount_propagation not in (None, "None"):
        yield field.forbidden(read_only_path, "may only be specified when mountPropagation is None or not specified")


def _validate_devices(
    devices: list[Object], mounts: list[Object], path: str, volumes: Mapping[str, Object]
) -> field.Errors:
    mount_paths = _volume_paths(mounts, "mountPath")
    occupied = set(mount_paths.values())
    names: set[str] = set()
    places: set[str] = set()
    for index, device in enumerate(each(devices)):
        device_path = f"{path}[{index}]"
        name, file_path = device.get("name", ""), device.get("devicePath", "")
        if not name:
            yield field.required(f"{device_path}.name")
        if name in names:
            yield field.invalid(f"{device_path}.name", name, "must be unique")
        yield from _validate_device_volume(volumes.get(name), name, device_path)
        if not file_path:
            yield field.required(f"{device_path}.devicePath")
        if file_path in places:
            yield field.invalid(f"{device_path}.devicePath", file_path, "must be unique")
        if ".." in file_path.split("/"):
            yield field.invalid(f"{device_path}.devicePath", file_path, "can not contain backsteps ('..')")
        else:
            places.add(file_path)
        yield from _validate_overlap(device_path, "devicePath", name, file_path, mount_paths, occupied, "volumeMounts")
        if name:
            names.add(name)


def _validate_device_volume(volume: Object | None, name: str, item_path: str) -> field.Errors:
    """Require the volume of a device to be a claim."""
    if volume is None:
        yield FieldError("FieldValueNotFound", f"{item_path}.name", name)
    elif volume.get("persistentVolumeClaim") is None and volume.get("ephemeral") is None:
        yield field.invalid(f"{item_path}.name", name, _BLOCK)


_MESSAGES = ("File", "FallbackToLogsOnError")
_PROTOCOLS = ("SCTP", "TCP", "UDP")
_PULLS = ("Always", "IfNotPresent", "Never")
_RESIZED, _RESIZES = ("cpu", "memory"), ("NotRequired", "RestartContainer")
_RESTARTS = ("Always", "Never", "OnFailure")
_ACTIONS = ("Restart", "RestartAllContainers")
_MAX_RULES, _MAX_CODES = 20, 255
_NOT_INIT = "may not be set for init containers without restartPolicy=Always"
_NOT_EPHEMERAL = "cannot be set for an Ephemeral Container"
# fields that ephemeral containers must not have
_REFUSED = (
    "ports", "resources", "resizePolicy", "restartPolicy", "restartPolicyRules", "livenessProbe", "readinessProbe",
    "startupProbe", "lifecycle",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Pod:
    """The context for validating containers: the pod's valid volumes by name, its claim names, and its policies."""

    volumes: Mapping[str, Object]
    claims: Set[str]
    restart: str
    host_users: bool
    around: Around
    options: PodOptions


def visit_containers(spec: Object, path: str) -> list[tuple[Object, str]]:
    """Return all containers with their paths, in the order of errors about all containers."""
    containers: list[tuple[Object, str]] = []
    for field_name in ("initContainers", "containers", "ephemeralContainers"):
        if listed := spec.get(field_name):
            containers += [(container, f"{path}.{field_name}[{index}]") for index, container in enumerate(each(listed))]
    return containers


def validate_containers(containers: list[Object], path: str, pod: Pod) -> field.Errors:
    """Validate spec.containers."""
    if not containers:
        yield field.required(path)
        return
    seen: set[str] = set()
    for index, container in enumerate(each(containers)):
        container_path, name = f"{path}[{index}]", container.get("name", "")
        yield from _validate_common(container, container_path, pod)
        yield from checks.validate_unique(f"{container_path}.name", name, seen)
        if container.get("lifecycle") is not None:
            yield from probes.validate_lifecycle(container["lifecycle"], f"{container_path}.lifecycle", pod.around)
        yield from probes.validate_probes(container, container_path, pod.around)
        if container.keys().isdisjoint(("restartPolicy", "restartPolicyRules")):
            continue
        if has("ContainerRestartPolicies"):
            yield from _validate_restart(container, container_path)
        elif container.get("restartPolicy") is not None:
            yield field.forbidden(f"{container_path}.restartPolicy", "may not be set for non-init containers")
    yield from _host_ports(containers, path)


def validate_init_containers(
    init_containers: list[Object], path: str, pod: Pod, regulars: list[Object]
) -> field.Errors:
    """Validate spec.initContainers. regulars: the containers of spec.containers."""
    seen = {container.get("name", "") for container in each(regulars)}
    for index, container in enumerate(each(init_containers)):
        container_path, name = f"{path}[{index}]", container.get("name", "")
        yield from _validate_common(container, container_path, pod)
        yield from _validate_restart(container, container_path, first=True)
        if name in seen:
            yield field.duplicate(f"{container_path}.name", name)
        elif name:
            seen.add(name)
        yield from _host_ports([container], path)
        stays = amounts.is_sidecar(container)
        if not stays:
            for refused in ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe"):
                if container.get(refused) is not None:
                    yield field.forbidden(f"{container_path}.{refused}", _NOT_INIT)
        else:
            if container.get("lifecycle") is not None:
                yield from probes.validate_lifecycle(container["lifecycle"], f"{container_path}.lifecycle", pod.around)
            yield from probes.validate_probes(container, container_path, pod.around)
        if not stays and not pod.options.restarting:
            yield from _never_restarted(container, container_path)


def _never_restarted(container: Object, path: str) -> field.Errors:
    for index, policy in enumerate(each(container.get("resizePolicy") or ())):
        if policy.get("restartPolicy") == "RestartContainer":
            reason = "must not be set to 'RestartContainer' for non-sidecar initContainers"
            yield field.invalid(f"{path}.resizePolicy[{index}].restartPolicy", "RestartContainer", reason)


def validate_ephemeral_containers(
    ephemeral_containers: list[Object], path: str, pod: Pod, other_containers: list[Object]
) -> field.Errors:
    """Validate ephemeralContainers. other_containers: the other containers of the pod."""
    other_names = {container.get("name", "") for container in each(other_containers)}
    seen = set(other_names)
    for position, container in enumerate(each(ephemeral_containers)):
        container_path, name = f"{path}[{position}]", container.get("name", "")
        yield from _validate_common(container, container_path, pod)
        yield from validate_image_spaces(container, container_path)
        yield from checks.validate_unique(f"{container_path}.name", name, seen)
        target = container.get("targetContainerName")
        if target and target not in other_names:
            yield FieldError("FieldValueNotFound", f"{container_path}.targetContainerName", target)
        for refused in _REFUSED:
            if container.get(refused) or (refused == "lifecycle" and refused in container):
                yield field.forbidden(f"{container_path}.{refused}", _NOT_EPHEMERAL)
        for index, mount in enumerate(each(container.get("volumeMounts") or ())):
            for sub in ("subPath", "subPathExpr"):
                if mount.get(sub):
                    yield field.forbidden(f"{container_path}.volumeMounts[{index}].{sub}", _NOT_EPHEMERAL)


def validate_image_spaces(container: Object, path: str) -> field.Errors:
    """Reject spaces around an image name in a pod. Templates may have them."""
    image = container.get("image", "")
    if image.strip() != image:
        yield field.invalid(f"{path}.image", image, "must not have leading or trailing whitespace")


def _validate_common(container: Object, path: str, pod: Pod) -> field.Errors:
    """Validate the common fields of all types of containers."""
    yield from checks.validate_name(f"{path}.name", container.get("name", ""))
    yield from checks.require_fields(container, path, "image")
    message = container.get("terminationMessagePolicy")
    yield from checks.validate_enum(f"{path}.terminationMessagePolicy", message, _MESSAGES)
    if container.get("ports"):
        yield from _validate_ports(container["ports"], f"{path}.ports")
    if container.get("env"):
        yield from env.validate_env(container["env"], f"{path}.env", relaxed=pod.options.loose_variables)
    if container.get("envFrom"):
        relaxed_names = pod.options.loose_variables
        yield from env.validate_env_from(container["envFrom"], f"{path}.envFrom", relaxed=relaxed_names)
    yield from validate_mounts(container, path, pod.volumes)
    yield from checks.validate_enum(f"{path}.imagePullPolicy", container.get("imagePullPolicy"), _PULLS)
    if container.get("resources"):
        indivisible = pod.options.indivisible
        yield from resources.validate_resources(
            container["resources"], f"{path}.resources", pod.claims, indivisible=indivisible
        )
    if container.get("resizePolicy"):
        yield from _validate_resize(container["resizePolicy"], f"{path}.resizePolicy", pod.restart)
    yield from security.validate_container_context(
        container.get("securityContext"), f"{path}.securityContext", pod.host_users
    )


def _validate_ports(ports: list[Object], path: str) -> field.Errors:
    seen: set[str] = set()
    for index, port in enumerate(each(ports)):
        port_path, name = f"{path}[{index}]", port.get("name")
        if name:
            errors = list(checks.validate_port(f"{port_path}.name", name))
            yield from errors
            if not errors and name in seen:
                yield field.duplicate(f"{port_path}.name", name)
            seen.add(name)
        if not port.get("containerPort"):
            yield field.required(f"{port_path}.containerPort")
        else:
            yield from checks.port_number(f"{port_path}.containerPort", port["containerPort"])
        if port.get("hostPort"):
            yield from checks.port_number(f"{port_path}.hostPort", port["hostPort"])
        yield from checks.validate_enum(f"{port_path}.protocol", port.get("protocol"), _PROTOCOLS)


def _host_ports(containers: list[Object], path: str) -> field.Errors:
    """Reject host ports that two containers share."""
    seen: set[str] = set()
    for position, container in enumerate(each(containers)):
        for index, port in enumerate(each(container.get("ports") or ())):
            if not port.get("hostPort"):
                continue
            host_port = f"{port.get('protocol', '')}/{port.get('hostIP', '')}/{port['hostPort']}"
            yield from checks.validate_unique(f"{path}[{position}].ports[{index}].hostPort", host_port, seen)


def _validate_resize(resize: list[Object], path: str, restart: str) -> field.Errors:
    seen: set[str] = set()
    for index, entry in enumerate(each(resize)):
        name, policy = Stringer(entry.get("resourceName", "")), entry.get("restartPolicy", "")
        yield from checks.validate_unique(f"{path}[{index}]", name, seen)
        yield from checks.validate_enum(path, name, _RESIZED)
        yield from checks.validate_enum(path, policy, _RESIZES)
        if restart == "Never" and policy != "NotRequired":
            yield field.invalid(path, Named(policy), "must be 'NotRequired' when pod `restartPolicy` is 'Never'")


def _validate_restart(container: Object, path: str, *, first: bool = False) -> field.Errors:
    """Validate the restart policy and restart rules of a container. first: it is an init container."""
    policy, rules = container.get("restartPolicy"), container.get("restartPolicyRules") or []
    if policy is None:
        if not rules:
            return
        yield field.required(f"{path}.restartPolicy", "must specify restartPolicy when restart rules are used")
        if first:
            return
    else:
        yield from field.one_of(f"{path}.restartPolicy", policy, _RESTARTS)
    rules_path = f"{path}.restartPolicyRules"
    if len(rules) > _MAX_RULES:
        yield field.too_many(rules_path, len(rules), _MAX_RULES)
    for index, rule in enumerate(each(rules)):
        at, codes = f"{rules_path}[{index}]", rule.get("exitCodes")
        actions = _ACTIONS if has("RestartAllContainersOnContainerExits") else _ACTIONS[:1]
        yield from field.one_of(f"{at}.action", rule.get("action", ""), actions)
        if codes is None:
            yield field.required(f"{at}.exitCodes", "must be specified")
            continue
        yield from field.one_of(f"{at}.exitCodes.operator", codes.get("operator", ""), ("In", "NotIn"))
        if len(codes.get("values") or ()) > _MAX_CODES:
            yield field.too_many(f"{at}.exitCodes.values", len(codes["values"]), _MAX_CODES)
