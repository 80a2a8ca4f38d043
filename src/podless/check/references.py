"""Finds references of objects to other objects that are not in the set.

Supported are namespaces, owners, and fields of built-in kinds that name an object of one kind.
"""

from __future__ import annotations

import pathlib
from collections.abc import Iterable, Iterator, Set
from typing import Any, NamedTuple

from podless.check.documents import ObjectIdentity
from podless.codec.documents import Document
from podless.meta.field import Path
from podless.runtime.datafiles import read_blocks
from podless.runtime.jsonobject import Object

# namespaces of every cluster
_NAMESPACES = frozenset({"default", "kube-node-lease", "kube-public", "kube-system"})
_ROLES = frozenset({"admin", "cluster-admin", "edit", "view"})
_RBAC = "rbac.authorization.k8s.io"
_DEFAULTS = frozenset({("", "ServiceAccount", "default"), ("", "ConfigMap", "kube-root-ca.crt")})
_TABLES = read_blocks(pathlib.Path(__file__).with_name("references.txt"))


class Reference(NamedTuple):
    """A field that names an object. file, line, at: of the field, by its document. about: the object with the field."""

    target: ObjectIdentity
    file: str
    line: int
    at: Path
    about: str


def find_references(identity: ObjectIdentity, obj: Object, document: Document, at: Path) -> Iterator[Reference]:
    """Yield the references of an object."""
    kind, namespace = f"{identity.group}/{identity.kind}", identity.namespace

    def make_reference(target: ObjectIdentity, path: Path) -> Reference:
        return Reference(target, document.file, document.line, at + path, str(identity))

    if namespace:
        yield make_reference(ObjectIdentity("", "Namespace", "", namespace), ("metadata", "namespace"))
    for index, owner in enumerate(obj["metadata"].get("ownerReferences") or []):
        group = owner["apiVersion"].rpartition("/")[0]
        target = ObjectIdentity(group, owner["kind"], namespace, owner["name"])
        yield make_reference(target, ("metadata", "ownerReferences", index, "name"))
    for template_kind, path in _TABLES["templates"]:
        if template_kind == kind:
            for target, actual_path in _list_pod_references(obj, tuple(path.split(".")), namespace):
                yield make_reference(target, actual_path)
    for other_kind, path, target_name in _TABLES["others"]:
        group, _, target_kind = target_name.partition("/")
        for actual_path, _, name in _walk_names(obj, path) if other_kind == kind else ():
            target_namespace = "" if target_kind.endswith("Policy") else namespace
            yield make_reference(ObjectIdentity(group, target_kind, target_namespace, name), actual_path)
    if kind in (f"{_RBAC}/RoleBinding", f"{_RBAC}/ClusterRoleBinding"):
        role = obj.get("roleRef") or {}
        target_namespace = namespace if role.get("kind") == "Role" else ""
        yield make_reference(
            ObjectIdentity(_RBAC, role.get("kind") or "", target_namespace, role.get("name") or ""), ("roleRef", "name")
        )
    if kind == "autoscaling/HorizontalPodAutoscaler":
        scale_target = (obj.get("spec") or {}).get("scaleTargetRef") or {}
        group = (scale_target.get("apiVersion") or "").rpartition("/")[0]
        target = ObjectIdentity(group, scale_target.get("kind") or "", namespace, scale_target.get("name") or "")
        yield make_reference(target, ("spec", "scaleTargetRef", "name"))


def _list_pod_references(obj: Object, base: Path, namespace: str) -> Iterator[tuple[ObjectIdentity, Path]]:
    """Yield the references in the pod spec of an object, with their paths. base: the path of the spec."""
    for pod in _walk_path(obj, base):
        for path, kind, *optional in _TABLES["pods"]:
            for actual_path, holder, name in _walk_names(pod[1], path):
                if not any(map(holder.get, optional)):
                    yield ObjectIdentity("", kind, namespace, name), base + actual_path


def find_missing(
    references: Iterable[Reference], known_objects: Set[ObjectIdentity], kinds: Set[tuple[str, str]]
) -> Iterator[Reference]:
    """Yield references to objects that are not in `known_objects`. kinds: the kinds in the set.

    If the set has no objects of a kind, references to that kind are not reported, so that you can check a part of a
    configuration. A missing namespace is reported if the set has any namespace.
    """
    without_namespace = {identity._replace(namespace="") for identity in known_objects}
    for reference in references:
        target = reference.target
        is_default = (
            (target.group, target.kind, target.name) in _DEFAULTS
            or (target.kind == "Namespace" and not target.group and target.name in _NAMESPACES)
            or (target.kind == "ClusterRole" and (target.name.startswith("system:") or target.name in _ROLES))
        )
        is_known = (
            target in known_objects
            # an object without a namespace will be in that of the referring object
            or (not target.namespace and target in without_namespace)
            # a cluster-scoped owner, or one without a namespace in its manifest
            or target._replace(namespace="") in known_objects
        )
        if (target.group, target.kind) in kinds and not is_default and not is_known:
            yield reference


def _walk_path(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    """Yield the values at a path, with their actual paths. "*" means every item."""
    if not path:
        yield (), value
        return
    step, remaining = path[0], path[1:]
    if step == "*":
        steps: Iterable[tuple[Any, Any]] = enumerate(value) if isinstance(value, list) else ()
    else:
        steps = ((step, value[step]),) if isinstance(value, dict) and step in value else ()
    for key, item in steps:
        for actual_path, final_value in _walk_path(item, remaining):
            yield (key, *actual_path), final_value


def _walk_names(value: Any, path: str) -> Iterator[tuple[Path, Any, str]]:
    """Yield the names at a path, each with its actual path and its parent."""
    *steps, last = path.split(".")
    for actual_path, holder in _walk_path(value, tuple(steps)):
        name = holder.get(last) if isinstance(holder, dict) else None
        if isinstance(name, str) and name:
            yield (*actual_path, last), holder, name
