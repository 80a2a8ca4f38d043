"""Validates environment variables, and references to pod fields and resources in variables and files.

Source: Kubernetes' pkg/apis/core/validation and pkg/apis/core/pods.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from podless.apis.shared import checks
from podless.meta import field, names
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import has

_BYTES = ("1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei")
_OF_PODS = frozenset(
    {
        "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid",
        "spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "status.hostIP",
        "status.hostIPs", "status.phase", "status.podIP", "status.podIPs",
    }
)  # fmt: skip
# fields of the pod that variables can reference, and those that files can
_VARIABLES = (
    "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
    "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs",
)  # fmt: skip
FILES = ("metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid")
_RESOURCES = (
    "limits.cpu", "limits.ephemeral-storage", "limits.memory",
    "requests.cpu", "requests.ephemeral-storage", "requests.memory",
)  # fmt: skip
_HUGE = ("limits.hugepages-", "requests.hugepages-")
_LABELLED = ("metadata.annotations", "metadata.labels")
_SOURCES = "`fieldRef`, `resourceFieldRef`, `configMapKeyRef`"


def uses_loose_names(spec: Object) -> bool:
    """Return whether containers have variables with names that only relaxed validation allows."""
    return any(
        names.check_strict_variable_name(name) and not names.check_variable_name(name)
        for field_name in ("initContainers", "containers", "ephemeralContainers")
        for container in each(spec.get(field_name) or ())
        for name in (
            *(variable.get("name") or "" for variable in each(container.get("env") or ())),
            *(source.get("prefix") or "" for source in each(container.get("envFrom") or ())),
        )
        if name
    )


def validate_env(container: Object, path: str, *, relaxed: bool) -> field.Errors:
    """Validate env and envFrom of a container. relaxed: the old pod has names that only relaxed validation allows."""
    check = names.check_strict_variable_name
    if relaxed or has("RelaxedEnvironmentVariableValidation"):
        check = names.check_variable_name
    for variable, at in checks.list_items(container, "env", path):
        yield from checks.validate_name(f"{at}.name", variable.get("name", ""), check)
        if (source := variable.get("valueFrom")) is not None:
            yield from _validate_value_from(source, f"{at}.valueFrom", variable.get("value", ""))
    for source, at in checks.list_items(container, "envFrom", path):
        yield from checks.validate_string(source, at, "prefix", check)
        set_fields = [name for name in ("configMapRef", "secretRef") if source.get(name) is not None]
        for name in each(set_fields):
            yield from checks.validate_name(
                f"{at}.{name}.name", source[name].get("name", ""), names.check_subdomain_prefix
            )
        if not set_fields:
            yield field.invalid(f"{path}.envFrom", "", "must specify one of: `configMapRef` or `secretRef`")
        elif len(set_fields) > 1:
            yield field.invalid(f"{path}.envFrom", "", "may not have more than one field specified at a time")


def _validate_value_from(source: Object, path: str, value: str) -> field.Errors:
    set_fields = [name for name in _KINDS if source.get(name) is not None]
    for name in each(set_fields):
        yield from _KINDS[name](source[name], f"{path}.{name}")
    if not set_fields:
        alternatives = ", `secretKeyRef` or `fileKeyRef`" if has("EnvFiles") else " or `secretKeyRef`"
        yield field.invalid(path, "", f"must specify one of: {_SOURCES}{alternatives}")
    elif value:
        yield field.invalid(path, "", "may not be specified when `value` is not empty")
    elif len(set_fields) > 1:
        yield field.invalid(path, "", "may not have more than one field specified at a time")


def validate_field_ref(ref: Object, path: str, allowed: tuple[str, ...]) -> field.Errors:
    """Validate a reference to a field of the pod. allowed: the field paths, sorted."""
    version, label = ref.get("apiVersion", ""), ref.get("fieldPath", "")
    if not version or not label:
        yield field.required(f"{path}.fieldPath" if version else f"{path}.apiVersion")
        return
    field_path, key, quoted = _split_subscript(label)
    reason = ""
    if version != "v1":
        reason = f"unsupported pod version: {version}"
    elif quoted and field_path not in _LABELLED:
        reason = f"field label does not support subscript: {label}"
    elif not quoted and label not in _OF_PODS and label != "spec.host":
        reason = f"field label not supported: {label}"
    if reason:
        yield field.invalid(f"{path}.fieldPath", label, f"error converting fieldPath: {reason}")
    elif quoted:
        key = key.lower() if field_path == "metadata.annotations" else key
        yield from checks.validate_label_key(path, key)
    else:
        field_path = "spec.nodeName" if label == "spec.host" else label
        yield from field.one_of(f"{path}.fieldPath", field_path, allowed, named=False)


def _split_subscript(label: str) -> tuple[str, str, bool]:
    """Return the field, the key in brackets after it, and whether there is one."""
    head, quoted, key = label.removesuffix("']").partition("['")
    if not label.endswith("']") or not quoted or not head:
        return label, "", False
    return head, key, True


def validate_resource_ref(ref: Object, path: str, *, volume: bool = False) -> field.Errors:
    """Validate a resourceFieldRef. volume: it is for a file, which requires the container's name."""
    name = ref.get("resource", "")
    if volume and not ref.get("containerName"):
        yield field.required(f"{path}.containerName")
    elif not name:
        yield field.required(f"{path}.resource")
    elif name not in _RESOURCES and not name.startswith(_HUGE):
        yield field.not_supported(f"{path}.resource", name, _RESOURCES, named=False)
    divisor = ref.get("divisor") or "0"
    if divisor != "0":
        yield from _validate_divisor(name, divisor, f"{path}.divisor")


def _validate_divisor(name: str, divisor: str, path: str) -> field.Errors:
    resource = name.partition(".")[2] if name in _RESOURCES else "hugepages" if name.startswith(_HUGE) else ""
    if resource == "cpu":
        if divisor not in ("1", "1m"):
            yield field.invalid(path, name, "only divisor's values 1m and 1 are supported with the cpu resource")
    elif resource and divisor not in _BYTES:
        resource_noun = "local ephemeral storage" if resource == "ephemeral-storage" else resource
        yield field.invalid(
            path, name, f"only divisor's values {', '.join(_BYTES)} are supported with the {resource_noun} resource"
        )


def _validate_key_ref(ref: Object, path: str) -> field.Errors:
    name, key = ref.get("name", ""), ref.get("key", "")
    yield from field.invalid_details(f"{path}.name", name, names.check_subdomain(name))
    yield from checks.validate_name(f"{path}.key", key, names.check_config_key)


def _validate_file_ref(ref: Object, path: str) -> field.Errors:
    key, volume, file = (ref.get(name, "") for name in ("key", "volumeName", "path"))
    yield from checks.validate_name(f"{path}.key", key, names.check_variable_name)
    yield from checks.validate_name(f"{path}.volumeName", volume)
    yield from checks.reject_backsteps(f"{path}.path", file) if file else (field.required(f"{path}.path"),)


_KINDS: dict[str, Callable[[Object, str], field.Errors]] = {
    "fieldRef": partial(validate_field_ref, allowed=_VARIABLES),
    "resourceFieldRef": validate_resource_ref,
    "configMapKeyRef": _validate_key_ref,
    "secretKeyRef": _validate_key_ref,
    "fileKeyRef": _validate_file_ref,
}


def validate_file_keys(spec: Object, path: str, containers: list[tuple[Object, str]]) -> field.Errors:
    """Require fileKeyRef variables to name an emptyDir volume."""
    volumes = {volume.get("name", ""): volume for volume in each(spec.get("volumes") or ())}
    for container, container_path in each(containers):
        for index, variable in enumerate(each(container.get("env") or ())):
            ref = (variable.get("valueFrom") or {}).get("fileKeyRef")
            if ref is None:
                continue
            name, at = ref.get("volumeName", ""), f"{container_path}.env[{index}].valueFrom.fileKeyRef.volumeName"
            if name not in volumes:
                yield field.FieldError("FieldValueNotFound", at, name)
            elif volumes[name].get("emptyDir") is None:
                yield field.invalid(at, name, "referenced volume must be of type emptyDir")
