"""Validates the volumes of a pod: one type each, and its fields. Source: Kubernetes' pkg/apis/core/validation."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from podless.apis.podspec import claims, disks, projected
from podless.apis.podspec.options import PodOptions
from podless.apis.shared import checks
from podless.meta import field, names
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import has

_HOST_PATHS = (
    "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket",
)  # fmt: skip
_PULLS = ("Always", "IfNotPresent", "Never")
SEVERAL_TYPES = "may not specify more than 1 volume type"
_OWN_CLAIM = "must not reference a PVC that gets created for an ephemeral volume"

Check = Callable[[Object, str], Iterable[FieldError]]


def validate_volumes(
    spec: Object, path: str, metadata: Object | None, options: PodOptions, sound: dict[str, Object]
) -> field.Errors:
    """Validate the volumes of a PodSpec. metadata: of the pod; None for a template. sound: gets valid ones, by name."""
    needs_image = metadata is not None if has("EmptyImageReferences") else not options.allow_empty_image
    pod = (metadata or {}).get("name", "")
    ephemeral = (item.get("name", "") for item in each(spec.get("volumes") or ()) if item.get("ephemeral") is not None)
    generated = {f"{pod}-{name}" for name in ephemeral if pod}
    for volume, at in checks.list_items(spec, "volumes", path):
        name = volume.get("name", "")
        errors = [*_validate_source(volume, at, options, needs_image=needs_image)]
        errors += _validate_claim_name(volume, at, pod)
        errors += checks.validate_name(f"{at}.name", name)
        if name in sound:
            errors.append(field.duplicate(f"{at}.name", name))
        if errors:
            yield from errors
        else:
            sound[name] = volume
        claim = volume.get("persistentVolumeClaim")
        if claim is not None and claim.get("claimName", "") in generated:
            yield field.invalid(f"{at}.persistentVolumeClaim.claimName", claim.get("claimName", ""), _OWN_CLAIM)


def lacks_image(spec: Object) -> bool:
    """Return whether a volume of a pod has an image without a reference."""
    images = (volume.get("image") for volume in each(spec.get("volumes") or ()))
    return any(image is not None and not image.get("reference") for image in images)


def _validate_source(volume: Object, path: str, options: PodOptions, *, needs_image: bool) -> field.Errors:
    set_kinds = [kind for kind in KINDS if volume.get(kind) is not None]
    if not set_kinds:
        yield field.required(path, "must specify a volume type")
    for index, kind in enumerate(each(set_kinds)):
        source, (check, name_in_path) = volume[kind], KINDS[kind]
        if index:
            yield field.forbidden(f"{path}.{SURPLUS_NAMES.get(kind, kind)}", SEVERAL_TYPES)
        elif kind == "projected":
            yield from projected.validate_projected(
                source, f"{path}.projected", outside_paths=options.allow_outside_token_path
            )
        else:
            if kind == "image" and needs_image:
                yield from checks.require_fields(source, f"{path}.image", "reference")
            yield from check(source, f"{path}.{name_in_path}")
        if kind == "iscsi":
            yield from disks.validate_portal(volume, source, path)


def _validate_claim_name(volume: Object, path: str, pod: str) -> field.Errors:
    """Validate the name of an ephemeral volume's claim."""
    name = volume.get("name")
    if not pod or not name or volume.get("ephemeral") is None:
        return
    if next(kind for kind in KINDS if volume.get(kind) is not None) != "ephemeral":
        return
    for text in names.check_subdomain(f"{pod}-{name}"):
        yield field.invalid(f"{path}.name", name, f'PVC name "{pod}-{name}": {text}')


def _validate_empty_dir(source: Object, path: str) -> field.Errors:
    if str(source.get("sizeLimit") or "").startswith("-"):
        yield field.forbidden(f"{path}.sizeLimit", "SizeLimit field must be a valid resource quantity")


def validate_host_path(source: Object, path: str) -> field.Errors:
    """Validate a hostPath volume, or a local one."""
    if not source.get("path"):
        yield field.required(f"{path}.path")
        return
    yield from checks.reject_backsteps(f"{path}.path", source["path"])
    yield from field.one_of(f"{path}.type", source.get("type"), _HOST_PATHS)


def _validate_git_repo(source: Object, path: str) -> field.Errors:
    yield from checks.require_fields(source, path, "repository")
    yield from checks.validate_descending(f"{path}.directory", source.get("directory", ""))


def _validate_downward_api(source: Object, path: str) -> field.Errors:
    yield from checks.validate_mode(source, path)
    for file in each(source.get("items") or ()):
        yield from projected.validate_downward_file(file, path)


def _validate_csi(source: Object, path: str) -> field.Errors:
    yield from disks.validate_driver_name(source.get("driver", ""), f"{path}.driver")
    ref = source.get("nodePublishSecretRef")
    if ref is not None:
        yield from checks.require_fields(ref, f"{path}.nodePublishSecretRef", "name")
        yield from checks.validate_string(ref, path, "name", names.check_subdomain)


def _validate_ephemeral(source: Object, path: str) -> field.Errors:
    template = source.get("volumeClaimTemplate")
    if template is None:
        yield field.required(f"{path}.volumeClaimTemplate")
    else:
        yield from claims.validate_claim_template(template, f"{path}.volumeClaimTemplate")


def _validate_image(source: Object, path: str) -> field.Errors:
    yield from checks.validate_enum(f"{path}.pullPolicy", source.get("pullPolicy"), _PULLS)


def _validate_keyed(source: Object, path: str, key: str) -> field.Errors:
    """Validate a volume whose files are keys of an object. key: the field that names the object."""
    yield from checks.require_fields(source, path, key)
    yield from projected.validate_items(source, path)


def require_fields(*keys: str) -> Check:
    """Return a check that only requires these fields."""
    return lambda source, path: checks.require_fields(source, path, *keys)


# in the order of errors: type: its check, and its name in paths
KINDS: dict[str, tuple[Check, str]] = {
    "emptyDir": (_validate_empty_dir, "emptyDir"),
    "hostPath": (validate_host_path, "hostPath"),
    "gitRepo": (_validate_git_repo, "gitRepo"),
    "gcePersistentDisk": (partial(disks.validate_partitioned, key="pdName"), "persistentDisk"),
    "awsElasticBlockStore": (partial(disks.validate_partitioned, key="volumeID"), "awsElasticBlockStore"),
    "secret": (partial(_validate_keyed, key="secretName"), "secret"),
    "nfs": (disks.validate_nfs, "nfs"),
    "iscsi": (disks.validate_iscsi, "iscsi"),
    "glusterfs": (require_fields("endpoints", "path"), "glusterfs"),
    "flocker": (disks.validate_flocker, "flocker"),
    "persistentVolumeClaim": (require_fields("claimName"), "persistentVolumeClaim"),
    "rbd": (require_fields("monitors", "image"), "rbd"),
    "cinder": (disks.validate_cinder, "cinder"),
    "cephfs": (require_fields("monitors"), "cephfs"),
    "quobyte": (disks.validate_quobyte, "quobyte"),
    "downwardAPI": (_validate_downward_api, "downwardAPI"),
    "fc": (disks.validate_fibre_channel, "fc"),
    "flexVolume": (disks.validate_flex, "flexVolume"),
    "configMap": (partial(_validate_keyed, key="name"), "configMap"),
    "azureFile": (require_fields("secretName", "shareName"), "azureFile"),
    "vsphereVolume": (require_fields("volumePath"), "vsphereVolume"),
    "photonPersistentDisk": (require_fields("pdID"), "photonPersistentDisk"),
    "portworxVolume": (require_fields("volumeID"), "portworxVolume"),
    "azureDisk": (disks.validate_azure, "azureDisk"),
    "storageos": (disks.validate_storage_os, "storageos"),
    "projected": (partial(projected.validate_projected, outside_paths=False), "projected"),
    "scaleIO": (require_fields("gateway", "system", "volumeName"), "scaleIO"),
    "csi": (_validate_csi, "csi"),
    "ephemeral": (_validate_ephemeral, "ephemeral"),
    "image": (_validate_image, "image"),
}
# names of surplus types in errors, if they differ; "downwarAPI" is kube-apiserver's spelling
SURPLUS_NAMES = {"cephfs": "cephFS", "downwardAPI": "downwarAPI"}
