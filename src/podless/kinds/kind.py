"""A served kind: one immutable object that says all that the layers above need to know.

Built-in and custom kinds are the same class; what differs is in their `strategy` (kinds/strategy.py). What others make
of a kind (tables, shapes, columns ...) they make once, through `made`: it lives as long as the kind does.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from podless.kinds.scheme import NO_SCHEME, Scheme
from podless.kinds.strategy import Strategy
from podless.kinds.version import Column, Scale, Version
from podless.meta import gvk
from podless.runtime.memo import draft_values, made_once, make_once
from podless.structs import defaults, structs

if TYPE_CHECKING:
    from podless.store.keys import Keys
    from podless.structs.structs import Struct

__all__ = [
    "VERBS",
    "VERBS_TERMINATING",
    "Column",
    "Kind",
    "Scale",
    "Subresource",
    "Version",
    "is_same_kind",
    "serve_versions",
]

T = TypeVar("T")

# in the order that discovery shows them for custom kinds
VERBS = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")
VERBS_TERMINATING = ("delete", "deletecollection", "get", "list", "watch")


@dataclass(frozen=True, eq=False)
class Subresource:
    """Something below an object beside its status and scale.

    verbs: what may be done with it. kind: of what is sent and answered there, None for the object itself. connects: it
    leads on to something else, which answers; the kind is that of the options then. options: the kind of the options of
    a read that answers a text. releases: those that have it, "" for all (runtime/release.py).
    """

    name: str
    verbs: tuple[str, ...]
    kind: Kind | None = None
    connects: bool = False
    options: Kind | None = None
    releases: str = ""


@dataclass(frozen=True, eq=False)
class Kind:
    """A kind with all its served versions, in the order of their priority.

    unserved: versions that are not served, though objects may be stored in one. by_version: all of both by name.
    uid and generation: of the definition behind a custom kind, "" and 0 for built-in ones. created: the revision of
    the definition's creation; before it there is nothing to watch. changed: the revision of its latest change; what
    was written after that needs no second look when it is read. terminating: the definition is being deleted.
    webhook: the conversion.webhook of the definition, which alone can tell what an object of one version is in
    another, or {"hook": NAME} for hooks of podless.hooks; None where only the apiVersion differs. hash_version: the
    version in the storage hash of discovery, where a real server stores another one than it serves. struct: the fields
    of a built-in kind; `struct_of` gives those of a version. preserve: fields that the schemas do not know are kept
    everywhere (spec.preserveUnknownFields). home: the kind that stores the objects, where this one only shows them in
    another group; its storage_version is "" then. hashed: whether discovery tells a hash of the stored form.
    shown_deleted: whether a delete answers the object rather than a Status. others: the kinds that show the objects of
    this one. scheme: of a built-in kind. views: all kinds that show the objects, home first.
    """

    group: str
    plural: str
    kind: str
    singular: str
    list_kind: str
    namespaced: bool
    versions: tuple[Version, ...]
    storage_version: str
    strategy: Strategy[Kind]
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    struct: Struct | None = None
    uid: str = ""
    generation: int = 0
    created: int = 0
    changed: int = 0
    terminating: bool = False
    webhook: Mapping[str, Any] | None = None
    preserve: bool = False
    verbs: tuple[str, ...] = VERBS
    hash_version: str = ""
    more_subresources: tuple[Subresource, ...] = ()
    virtual: bool = False
    hashed: bool = True
    shown_deleted: bool = False
    home: Kind | None = None
    others: Callable[[], tuple[Kind, ...]] = tuple
    unserved: tuple[Version, ...] = ()
    scheme: Scheme = NO_SCHEME
    by_version: Mapping[str, Version] = field(init=False, repr=False)
    _made: dict[Any, Any] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        every = {version.name: version for version in (*self.versions, *self.unserved)}
        object.__setattr__(self, "by_version", MappingProxyType(every))

    def made(self, key: Any, make: Callable[[], T]) -> T:
        """What `make` makes of this kind alone, made once for each key, and kept as long as the kind is."""
        try:
            found: T = self._made[key]
        except KeyError:
            return make_once(self._made, key, make)
        return found

    @property
    def is_complete(self) -> bool:
        """Whether work off the loop finds all that it can need of this kind."""
        return "complete" in self._made

    def complete(self, *more: Callable[[], object]) -> Callable[[], None]:
        """Make all that work off the loop can need of this kind; nobody sees it before the loop calls the result.

        more: makes what others make of the kind. To be called off the loop: it can take as long as compiling takes.
        """
        with draft_values() as draft:
            for name in ("views", "custom", "settled", "resource", "named", "keys", "prefix", "key"):
                getattr(self, name)
            for version in self.by_version.values():
                struct = self.struct_of(version)
                if struct is not None:
                    structs.complete_struct(struct)
                    defaults.complete_defaults(struct)
                self.raws(version)
            self.strategy.compile(self)
            for make in more:
                make()
        complete = self._made

        def publish() -> None:
            draft.publish()
            complete["complete"] = True

        return publish

    @made_once
    def views(self) -> tuple[Kind, ...]:
        """All kinds that show the objects."""
        home = self.home or self
        return (home, *home.others())

    @made_once
    def custom(self) -> bool:
        """Whether a CustomResourceDefinition made this kind."""
        return self.struct is None

    def struct_of(self, version: Version) -> Struct | None:
        """The fields of a built-in kind in one version; None for custom kinds."""
        return self.struct

    def raws(self, version: Version) -> tuple[str, ...]:
        """The fields of a built-in kind that may hold any JSON, whose bytes a real server keeps where it can."""
        struct = self.struct_of(version)
        return self.made(("raws", version.name), lambda: structs.raw_fields(struct) if struct is not None else ())

    def structure(self, version: Version) -> dict[str, Any] | None:
        """A custom kind's schema in one version, where it is structural: merging and publishing know no other.

        One that is not can only be where fields are kept that no schema knows.
        """
        schema = version.schema
        if schema is None or not self.preserve:
            return schema
        from podless.schema.definition import is_structural

        return schema if is_structural(schema) else None

    @made_once
    def settled(self) -> bool:
        """Whether what is stored under the kind as it stands is what its storage version shows."""
        return self.strategy.settled(self)

    @made_once
    def resource(self) -> str:
        """The plural with its group, as error texts name it."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @made_once
    def named(self) -> str:
        """The group that error texts name: the one that the objects are stored in."""
        return self.group if self.home is None else self.home.group

    def explain_mismatch(self, given: str, api_version: str) -> str:
        """Say why what claims to be a `given` of a version is not read as an object of a built-in kind; "" if it is."""
        shown = {(view.group, view.api_version(name)) for view in self.views for name in view.by_version}
        if given == self.kind and self.scheme.converts(given, api_version, shown):
            return ""
        return self.scheme.explain_unfit(given, api_version, f"{(self.named or 'core').partition('.')[0]}.{self.kind}")

    @made_once
    def keys(self) -> Keys:
        """Where the kind's objects are in the store."""
        from podless.store.keys import Keys  # who has no store needs none of it

        return Keys.of(self.named, self.plural, namespaced=self.namespaced)

    @made_once
    def prefix(self) -> str:
        """What the keys of all objects start with."""
        return self.keys.prefix

    def subresources(self, version: Version) -> list[str]:
        """The subresources of objects in one version, in the order that discovery lists them."""
        found = [name for name, served in (("status", version.status), ("scale", version.scale)) if served]
        found += [known.name for known in self.more_subresources]
        return found if self.custom else sorted(found)

    def subresource(self, name: str) -> Subresource | None:
        """A subresource beside status and scale."""
        return next((known for known in self.more_subresources if known.name == name), None)

    def api_version(self, version: str) -> str:
        """The apiVersion of objects in one version."""
        return f"{self.group}/{version}" if self.group else version

    def deprecation(self, version: Version) -> str:
        """What the users of a deprecated version are told; "" for one that is not."""
        if not version.deprecated or version.deprecation_warning:
            return version.deprecation_warning if version.deprecated else ""
        base, before = f"{self.api_version(version.name)} {self.kind} is deprecated", gvk.version_priority(version.name)
        newer = [other for other in self.versions if not other.deprecated and gvk.version_priority(other.name) < before]
        return f"{base}; use {self.api_version(newer[0].name)} {self.kind}" if newer else base

    @made_once
    def key(self) -> Callable[[str, str], str]:
        """Gives the key of an object in the store, by its namespace and name."""
        return self.keys.key


def is_same_kind(one: Kind, other: Kind) -> bool:
    """Whether two kinds come of one state of a definition, as far as it says how its objects are served."""
    return all(getattr(one, name) == getattr(other, name) for name in _SERVED)


_SERVED = ("uid", "generation", "created", "kind", "singular", "list_kind", "short_names", "categories", "terminating")


def serve_versions(kind: Kind, names: Container[str]) -> Kind:
    """The kind with only those of its versions served; the others stay known."""
    chosen = tuple(version for version in kind.versions if version.name in names)
    rest = tuple(version for version in kind.by_version.values() if version not in chosen)
    return replace(kind, versions=chosen, unserved=rest)


def sort_versions(versions: list[Version]) -> tuple[Version, ...]:
    """Versions in the order that discovery shows them."""
    return tuple(sorted(versions, key=lambda version: gvk.version_priority(version.name)))
