"""ObjectMeta and OwnerReference as dataclasses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(kw_only=True)
class OwnerReference:
    """An owner of an object."""

    apiVersion: str  # noqa: N815
    kind: str
    name: str
    uid: str
    controller: bool | None = None
    blockOwnerDeletion: bool | None = None  # noqa: N815
    extra_: dict[str, Any] = field(default_factory=dict, repr=False)


@dataclass(kw_only=True)
class ObjectMeta:
    """The metadata of an object. extra_: fields without an attribute of their own."""

    name: str | None = None
    generateName: str | None = None  # noqa: N815
    namespace: str | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    uid: str | None = None
    resourceVersion: str | None = None  # noqa: N815
    generation: int | None = None
    creationTimestamp: str | None = None  # noqa: N815
    deletionTimestamp: str | None = None  # noqa: N815
    deletionGracePeriodSeconds: int | None = None  # noqa: N815
    finalizers: list[str] | None = None
    ownerReferences: list[OwnerReference] | None = None  # noqa: N815
    managedFields: list[dict[str, Any]] | None = None  # noqa: N815
    selfLink: str | None = None  # noqa: N815
    extra_: dict[str, Any] = field(default_factory=dict, repr=False)
