"""The base class for objects of a kind, which checks them as the server does, and the classes of their metadata."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

from podless.meta.field import FieldError
from podless.models.definition import read_kind, schema_of
from podless.models.objects import read_object, write_object
from podless.runtime.jsonobject import Object

if TYPE_CHECKING:
    from podless.cel.rules import NodeRules
    from podless.schema import Schema


class CheckedSchema:
    """The schema of one version of a kind, with its rules; compiled at first use.

    openapi: an openAPIV3Schema. Raises ValueError at the first check if it is invalid.
    """

    def __init__(self, openapi: Object) -> None:
        self.openapi = openapi
        self._compiled: tuple[Schema, NodeRules | None] | None = None

    def _compile_schema(self) -> tuple[Schema, NodeRules | None]:
        from podless.cel.rules import NodeRules
        from podless.schema import Schema

        if self._compiled is None:
            compiled = Schema.compile(self.openapi)
            self._compiled = compiled, NodeRules.compile(self.openapi) if compiled.has_rules else None
        return self._compiled

    def drop_nulls(self, obj: Object) -> Object:
        """Return an object without the nulls that the server drops; the same object if it has none."""
        from podless.codec import serializer

        if not serializer.has_nulls(obj):
            return obj
        obj = serializer.copy_value(obj)
        self._compile_schema()[0].drop_nulls(obj, defaulted=True)
        return obj

    def check(self, obj: Object, old: Object | None = None) -> list[FieldError]:
        """Return the errors that the server would return for an object, [] if it would accept it.

        old: the object before an update. The arguments are not changed. As in the server, unknown fields are dropped
        and defaults are set first. Of metadata, only name and generateName are checked, if the schema restricts them.
        """
        from podless.codec import serializer
        from podless.schema import BLOCKING, Malformed

        schema, rules = self._compile_schema()
        obj, old = serializer.copy_value(obj), serializer.copy_value(old) if old is not None else None
        try:
            schema.normalize(obj, drop=False)
            if old is not None:
                schema.normalize(old)
        except Malformed as error:
            return [FieldError("FieldValueInvalid", "", None, str(error))]
        errors: list[FieldError] = schema.validate(obj, old)
        if rules is not None and not any(error.reason in BLOCKING for error in errors):
            errors += rules.validate(obj, old)
        return errors


class Resource:
    """The base of classes for whole objects. A class also needs the decorator `kind`.

    Field values are as in JSON. `to_dict` and `from_dict` lose only nulls that have no meaning.
    """

    __podless_checked__: ClassVar[CheckedSchema | None] = None

    @classmethod
    def from_dict(cls, obj: Object) -> Self:
        """Return an object in JSON as an instance. Raises pydantic's errors, and TypeError for other classes."""
        return read_object(cls, cls._find_schema().drop_nulls(obj))

    @classmethod
    def _find_schema(cls) -> CheckedSchema:
        schema: CheckedSchema | None = cls.__dict__.get("__podless_checked__")
        if schema is None:
            schema = cls.__podless_checked__ = CheckedSchema(schema_of(cls))
        return schema

    def to_dict(self) -> Object:
        """Return the object as JSON, with apiVersion and kind."""
        named = read_kind(type(self))
        written: Object = write_object(self)
        return {**written, "apiVersion": named.api_version, "kind": named.given["names"]["kind"]}

    def check(self, old: Self | None = None) -> list[FieldError]:
        """Return the errors that the server would return for the object: of its schema, then of its rules.

        The list is empty if the server would accept the object. old: the object before an update; it enables rules with
        oldSelf, and unchanged invalid values are accepted.
        """
        return self._find_schema().check(self.to_dict(), old.to_dict() if old is not None else None)


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
