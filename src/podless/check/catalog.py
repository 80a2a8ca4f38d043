"""The kinds that objects are checked against: built-in kinds, and those of definitions."""

from __future__ import annotations

from collections.abc import Iterable

from podless.codec import serializer
from podless.kinds.compile import compile_kind
from podless.kinds.kind import Kind, Version
from podless.meta import gvk
from podless.runtime.jsonobject import Object
from podless.runtime.release import NEWEST, Release

DEFINITION = ("apiextensions.k8s.io", "CustomResourceDefinition")


class Catalog:
    """Kinds by group, version and kind.

    described: kinds from OpenAPI documents; podless' own rules for a kind have precedence. definitions: valid v1
    CustomResourceDefinitions. release: decides the built-in kinds.
    """

    def __init__(
        self, described: Iterable[Kind] = (), definitions: Iterable[Object] = (), release: Release = NEWEST
    ) -> None:
        from podless.apis.catalog import ALL
        from podless.apis.runtimeconfig import serve_kinds

        self._kinds: dict[tuple[str, str, str], tuple[Kind, Version]] = {}
        self._unsound: set[tuple[str, str]] = set()
        self._dated: set[Kind] = set()
        for described_kind in described:
            self.add_kind(described_kind)
        for kind in serve_kinds(ALL, {"api/all": True}, release=release):
            if not kind.virtual:  # reviews and other virtual kinds are never stored, so files do not have them
                self.add_kind(kind)
        for definition in definitions:
            self.add_kind(make_kind(definition))

    def add_kind(self, kind: Kind, *, dated: bool = False) -> None:
        """Add a kind, replacing an earlier one of the same name.

        dated: its schema has formats that releases validate differently.
        """
        if dated:
            self._dated.add(kind)
        for version in kind.versions:
            self._kinds[kind.group, version.name, kind.kind] = kind, version

    def add_unsound(self, group: str, kind: str) -> None:
        """Record that the definition of a kind has errors, so that its objects cannot be checked."""
        self._unsound.add((group, kind))

    def find(self, group: str, version: str, kind: str) -> tuple[Kind, Version] | None:
        """Return the kind and version of an object, None if the kind is unknown."""
        return self._kinds.get((group, version, kind))

    def is_dated(self, kind: Kind) -> bool:
        """Return whether the kind's schema has formats that releases validate differently."""
        return kind in self._dated

    def list_versions(self, group: str, kind: str) -> list[str]:
        """Return the versions of a kind, sorted by Kubernetes' version priority."""
        versions = [version for known_group, version, name in self._kinds if (known_group, name) == (group, kind)]
        return sorted(versions, key=gvk.version_priority)

    def is_unsound(self, group: str, kind: str) -> bool:
        """Return whether the kind has a definition with errors."""
        return (group, kind) in self._unsound


def make_kind(definition: Object) -> Kind:
    """Return the kind of a definition that has no errors."""
    return compile_kind(definition, serializer.encode_json(definition))
