"""The kinds that objects are checked against: the built-in ones, and those of definitions."""

from __future__ import annotations

from collections.abc import Iterable

from podless.check.openapi import DescribedKind
from podless.codec import serializer
from podless.kinds.compile import compile_kind
from podless.kinds.kind import Kind, Version
from podless.runtime.jsonobject import Object

DEFINITION = ("apiextensions.k8s.io", "CustomResourceDefinition")


class Catalog:
    """Kinds by what objects say that they are.

    described: kinds that OpenAPI documents describe; where podless has the rules of a kind, it goes by those.
    definitions: CustomResourceDefinitions of v1, decoded and sound.
    """

    def __init__(self, described: Iterable[DescribedKind] = (), definitions: Iterable[Object] = ()) -> None:
        from podless.apis.catalog import ALL

        self._kinds: dict[tuple[str, str, str], tuple[Kind, Version]] = {}
        self._unsound: set[tuple[str, str]] = set()
        for one in described:
            self.add(one.kind())
        for kind in ALL:
            if not kind.virtual:  # questions to a server are in no files
                self.add(kind)
        for definition in definitions:
            self.define(definition)

    def add(self, kind: Kind) -> None:
        """Know of a kind, in place of an earlier one of the same name."""
        for version in kind.versions:
            self._kinds[kind.group, version.name, kind.kind] = kind, version

    def define(self, definition: Object) -> None:
        """Know of the kind of a definition that has no errors."""
        self.add(compile_kind(definition, serializer.encode_json(definition)))

    def unsound(self, group: str, kind: str) -> None:
        """Note a kind whose definition has errors, so that nothing can be said of its objects."""
        self._unsound.add((group, kind))

    def find(self, group: str, version: str, kind: str) -> tuple[Kind, Version] | None:
        """The kind and version of an object, None where nobody knows it."""
        return self._kinds.get((group, version, kind))

    def is_unsound(self, group: str, kind: str) -> bool:
        """Whether a definition of the kind is there, and has errors."""
        return (group, kind) in self._unsound
