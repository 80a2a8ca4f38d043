"""Objects of kinds that are loaded at first use, through their strategies alone."""

from __future__ import annotations

from typing import Any

from podless.kinds.kind import Kind
from podless.runtime.jsonobject import Object

POD: Object = {"containers": [{"name": "c", "image": "nginx:1.27"}]}


def template(**spec: Any) -> Object:
    """A template whose pods have the label app=web."""
    return {"metadata": {"labels": {"app": "web"}}, "spec": {**POD, **spec}}


def decoded(kind: Kind, spec: Object, version: str = "", **metadata: Any) -> Object:
    """An object as it is read: with its defaults."""
    known = kind.by_version[version or kind.storage_version]
    head = {"kind": kind.kind, "apiVersion": kind.api_version(known.name)}
    given = {**head, "metadata": {"name": "x", "namespace": "default", **metadata}, "spec": spec}
    return kind.strategy.decode(kind, known, given, [])


def made(kind: Kind, spec: Object, version: str = "", **metadata: Any) -> Object:
    """An object as it is to be stored."""
    obj = decoded(kind, spec, version, **metadata)
    obj["metadata"] |= {"uid": "u", "creationTimestamp": "2020-01-01T00:00:00Z"}
    kind.strategy.prepare_create(kind.by_version[version or kind.storage_version], obj)
    return obj


def faults(kind: Kind, spec: Object, version: str = "", **metadata: Any) -> list[str]:
    """What is wrong with a new object."""
    known = kind.by_version[version or kind.storage_version]
    return [str(error) for error in kind.strategy.validate(known, made(kind, spec, version, **metadata), None)]


def changed(kind: Kind, spec: Object, wanted: Object) -> list[str]:
    """What is wrong with a change from one spec to another."""
    version = kind.by_version[kind.storage_version]
    old = made(kind, spec)
    obj = decoded(kind, wanted)
    obj["metadata"] = dict(old["metadata"])
    kind.strategy.prepare_update(version, obj, old)
    return [str(error) for error in kind.strategy.validate(version, obj, old)]


def reported(kind: Kind, spec: Object, status: Object, before: Object | None = None) -> list[str]:
    """What is wrong with a write of a status."""
    version = kind.by_version[kind.storage_version]
    old = made(kind, spec)
    if before is not None:
        old["status"] = before
    obj = {**old, "status": status}
    kind.strategy.prepare_status(version, obj, old)
    return [str(error) for error in kind.strategy.validate_status(version, obj, old)]
