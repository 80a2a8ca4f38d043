"""The base classes that generated modules with pydantic models import. Needs pydantic."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """The base of generated models: values as in JSON; fields that a class lacks are kept."""

    model_config = ConfigDict(extra="allow", strict=True, validate_by_name=True, validate_by_alias=True)


class OwnerReference(Model):
    """An owner of an object."""

    apiVersion: str  # noqa: N815
    kind: str
    name: str
    uid: str
    controller: bool | None = None
    blockOwnerDeletion: bool | None = None  # noqa: N815


class ObjectMeta(Model):
    """The metadata of an object."""

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
