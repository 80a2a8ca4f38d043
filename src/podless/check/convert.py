"""Converts custom resources to another version, as their definitions declare."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from podless.apis import offline
from podless.check.sources import CannotCheck
from podless.kinds.kind import Kind
from podless.kinds.view import copy_object
from podless.meta.errors import Internal
from podless.runtime.jsonobject import Object
from podless.structs.structs import DecodeError


class ObjectConverter:
    """Converts objects to a version, if their kind has that version.

    definitions: in v1. Raises CannotCheck for a definition that a server would reject.
    """

    def __init__(self, definitions: Iterable[Object], version: str) -> None:
        self._version = version
        self._kinds: dict[tuple[str, str], Kind] = {}
        for definition in definitions:
            try:
                kind = offline.define_kind(definition)
            except DecodeError as error:
                raise CannotCheck(f"a definition cannot be read: {error}") from None
            if kind.kind is None:
                raise CannotCheck(f"{definition['metadata'].get('name')}: {kind.errors[0]}")
            self._kinds[kind.kind.group, kind.kind.kind] = kind.kind

    @property
    def knows_version(self) -> bool:
        """Whether any of the kinds has the version."""
        return any(self._version in kind.by_version for kind in self._kinds.values())

    def convert(self, obj: Any) -> Object | None:
        """Return an object in the version; None if its kind does not have the version. Raises CannotCheck."""
        if not isinstance(obj, dict) or not isinstance(obj.get("apiVersion"), str):
            return None
        group, _, version = obj["apiVersion"].rpartition("/")
        kind = self._kinds.get((group, str(obj.get("kind"))))
        if kind is None or version == self._version or self._version not in kind.by_version:
            return None
        if version not in kind.by_version:
            raise CannotCheck(f"the definition has no version {version}")
        if not isinstance(obj.get("metadata"), dict):
            raise CannotCheck("metadata is not an object")
        if kind.webhook is not None and "rules" not in kind.webhook:
            raise CannotCheck("only a webhook or a hook can convert it: its definition declares no conversion")
        try:
            return offline.convert_object(kind, copy_object(obj), self._version)
        except Internal as error:
            raise CannotCheck(error.message) from None
