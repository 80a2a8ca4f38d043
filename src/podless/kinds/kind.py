"""A served kind: one immutable object with everything that the layers above need.

Built-in and custom kinds share the class and differ in their `strategy` (kinds/strategy.py). Layers above attach values
that they derive from a kind (tables, shapes, columns ...) with `derive`; these live as long as the kind.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import field, replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from podless.kinds.scheme import NO_SCHEME, GoScheme
from podless.kinds.strategy import Strategy
from podless.kinds.version import Column as Column
from podless.kinds.version import Scale as Scale
from podless.kinds.version import Version as Version
from podless.meta import gvk
from podless.runtime.dataclass import dataclass
from podless.runtime.memo import draft_values, made_once, make_once
from podless.structs import defaults, structs

if TYPE_CHECKING:
    from podless.store.keys import ResourceKeys
    from podless.structs.structs import Struct

T = TypeVar("T")
P = ParamSpec("P")

# in the order of discovery documents of custom kinds
VERBS = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")
VERBS_TERMINATING = ("delete", "deletecollection", "get", "list", "watch")
# the properties of Kind that are computed at first use
_LAZY = ("views", "custom", "api_versions", "reads_as_stored", "resource", "stored_group", "keys", "prefix", "key")


@dataclass(frozen=True, eq=False)
class Subresource:
    """A subresource other than status and scale."""

    name: str
    verbs: tuple[str, ...]
    kind: Kind | None = None  # kind of its bodies and answers, None for the object itself
    connects: bool = False  # it connects to something else that answers; the kind is that of the options then
    options: Kind | None = None  # kind of the options of a read that answers text
    releases: str = ""  # releases that have it, "" for all (runtime/release.py)
    hooks: Mapping[str, Mapping[str, Any]] | None = None  # the hooks of podless.hooks that answer, by verb
    noun: str = ""  # kind of the hooks' answers, "" for the kind of the object


@dataclass(frozen=True, eq=False)
class Kind:
    """A kind with all its versions, in the order of priority."""

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
    struct: Struct | None = None  # fields of a built-in kind; `struct_of` returns those of a version
    # uid, generation: of the definition of a custom kind, "" and 0 for built-in ones
    uid: str = ""
    generation: int = 0
    created: int = 0  # revision of the definition's creation, where watches start at the earliest
    changed: int = 0  # revision of its last change; entries written later need no conversion when read
    terminating: bool = False  # the definition is being deleted
    # conversion.webhook of the definition, {"hook": NAME} for hooks of podless.hooks, or {"rules": TEXT} for declared
    # conversions (kinds/declared); None if versions differ in apiVersion only
    webhook: Mapping[str, Any] | None = None
    preserve: bool = False  # keep unknown fields everywhere (spec.preserveUnknownFields)
    verbs: tuple[str, ...] = VERBS
    # the version in the storage hash of discovery, if a real server stores another one than it serves
    hash_version: str = ""
    hash_in: str = ""  # releases that store that one, "" for all
    more_subresources: tuple[Subresource, ...] = ()
    virtual: bool = False
    hashed: bool = True  # discovery shows a storage hash
    shown_deleted: bool = False  # a delete answers the object instead of a Status
    status_tables: bool = True  # the status subresource has Tables
    # the kind that stores the objects, if this one only shows them in another group; storage_version is "" then
    home: Kind | None = None
    read_others: Callable[[], tuple[Kind, ...]] = tuple  # kinds that show the objects of this one
    unserved: tuple[Version, ...] = ()  # versions that are not served, in which objects may be stored
    scheme: GoScheme = NO_SCHEME  # of a built-in kind
    by_version: Mapping[str, Version] = field(init=False, repr=False)  # all versions by name
    is_loaded = True  # rules and fields are imported (kinds/late.py)
    _derived: dict[Any, Any] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        by_version = {version.name: version for version in (*self.versions, *self.unserved)}
        object.__setattr__(self, "by_version", MappingProxyType(by_version))
        self.strategy.form.attach_table(self._derived)

    def derive(self, key: Any, make: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Return the result of `make`, computed once for each key and kept as long as the kind."""
        try:
            result: T = self._derived[key]
        except KeyError:
            return make_once(self._derived, key, partial(make, *args, **kwargs))
        return result

    @property
    def is_complete(self) -> bool:
        """Whether work off the loop finds everything of this kind that it can need."""
        return "complete" in self._derived

    def complete(self, *steps: Callable[[], object]) -> Callable[[], None]:
        """Compute everything that work off the loop can need. Call the returned function on the loop to publish it.

        steps: compute values that other layers derive from the kind. Call it off the loop: it can take as long as
        compiling. The strategy must be pinned from before the call until the end of the work.
        """
        with draft_values() as draft:
            for name in _LAZY:
                getattr(self, name)
            for version in self.by_version.values():
                struct = self.struct_of(version)
                if struct is not None:
                    structs.complete_struct(struct)
                    defaults.complete_defaults(struct)
                self.list_raw_fields(version)
            self.strategy.compile_rules(self)
            for make in steps:
                make()
            weight = self.strategy.form.weigh_form(draft.list_values())
        complete = self._derived

        def publish_values() -> None:
            draft.publish_values()
            complete["complete"] = True
            self.strategy.form.set_weight(weight)

        return publish_values

    @property
    def views(self) -> tuple[Kind, ...]:
        """All kinds that show the same objects. Keeping them would make a reference cycle."""
        home = self.home or self
        return (home, *home.read_others())

    @made_once
    def custom(self) -> bool:
        """Return whether the kind comes from a CustomResourceDefinition."""
        return self.struct is None

    def struct_of(self, version: Version) -> Struct | None:
        """Return the fields of a built-in kind in one version; None for custom kinds."""
        return self.struct

    def list_raw_fields(self, version: Version) -> tuple[str, ...]:
        """Return the fields of a built-in kind that may hold any JSON, whose bytes kube-apiserver keeps if it can."""
        struct = self.struct_of(version)
        return self.derive(("raws", version.name), lambda: structs.raw_fields(struct) if struct is not None else ())

    def structural_schema(self, version: Version, *, compiled: bool = False) -> dict[str, Any] | None:
        """Return a custom kind's schema in one version if it is structural, for merging and publishing.

        Only kinds that keep unknown fields can have another schema. compiled: the schema that the compiled form keeps;
        do not change it.
        """
        schema = self.strategy.get_openapi(version) if compiled else version.schema
        if schema is None or not self.preserve:
            return schema
        from podless.schema.definition import is_structural

        return schema if is_structural(schema) else None

    @made_once
    def reads_as_stored(self) -> bool:
        """Return whether objects written under the present kind are stored as the storage version's JSON."""
        return self.strategy.reads_as_stored(self)

    @made_once
    def api_versions(self) -> dict[str, str]:
        """Return the apiVersion of each version, by name."""
        return {name: self.api_version(name) for name in self.by_version}

    @made_once
    def resource(self) -> str:
        """Return the plural with its group, for error texts."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @made_once
    def stored_group(self) -> str:
        """Return the group for error texts: that of the kind that stores the objects."""
        return self.group if self.home is None else self.home.group

    def is_same_as(self, other: Kind) -> bool:
        """Return whether both kinds are of one resource, in any release and in any group that serves it."""
        return self.plural == other.plural and self.stored_group == other.stored_group

    def explain_mismatch(self, kind_name: str, api_version: str) -> str:
        """Return why a `kind_name` of an apiVersion is not an object of this built-in kind; "" if it is."""
        served = {(view.group, view.api_version(name)) for view in self.views for name in view.by_version}
        if kind_name == self.kind and self.scheme.can_convert(kind_name, api_version, served):
            return ""
        return self.scheme.explain_unfit(
            kind_name, api_version, f"{(self.stored_group or 'core').partition('.')[0]}.{self.kind}"
        )

    @made_once
    def keys(self) -> ResourceKeys:
        """Return the keys of the kind's objects in the store."""
        from podless.store.keys import ResourceKeys  # imported late: offline commands have no store

        return ResourceKeys.of(self.stored_group, self.plural, namespaced=self.namespaced)

    @made_once
    def prefix(self) -> str:
        """Return the common prefix of the keys of all objects."""
        return self.keys.prefix

    def list_subresources(self, version: Version) -> list[str]:
        """Return the subresources of a version, in discovery order."""
        names = [name for name, served in (("status", version.status), ("scale", version.scale)) if served]
        names += [subresource.name for subresource in self.more_subresources]
        return names if self.custom else sorted(names)

    def find_subresource(self, name: str) -> Subresource | None:
        """Return a subresource other than status and scale."""
        return next((subresource for subresource in self.more_subresources if subresource.name == name), None)

    def api_version(self, version: str) -> str:
        """Return the apiVersion of objects in one version."""
        return f"{self.group}/{version}" if self.group else version

    def deprecation_warning(self, version: Version) -> str:
        """Return the warning for users of a deprecated version, "" for other versions."""
        if not version.deprecated or version.deprecation_warning:
            return version.deprecation_warning if version.deprecated else ""
        base, before = f"{self.api_version(version.name)} {self.kind} is deprecated", gvk.rank_version(version.name)
        newer = [later for later in self.versions if not later.deprecated and gvk.rank_version(later.name) < before]
        return f"{base}; use {self.api_version(newer[0].name)} {self.kind}" if newer else base

    @made_once
    def key(self) -> Callable[[str, str], str]:
        """Return the key of an object in the store."""
        return self.keys.key


def is_same_kind(kind: Kind, other: Kind) -> bool:
    """Return whether two kinds serve objects in the same way: they come from equal definitions."""
    return all(getattr(kind, name) == getattr(other, name) for name in _SERVED)


_SERVED = ("uid", "generation", "created", "kind", "singular", "list_kind", "short_names", "categories", "terminating")


def serve_versions(kind: Kind, names: Container[str]) -> Kind:
    """Return the kind with only these of its versions served."""
    chosen = tuple(version for version in kind.versions if version.name in names)
    remaining = tuple(version for version in kind.by_version.values() if version not in chosen)
    return replace(kind, versions=chosen, unserved=remaining)


def sort_versions(versions: list[Version]) -> tuple[Version, ...]:
    """Sort versions in discovery order."""
    return tuple(sorted(versions, key=lambda version: gvk.rank_version(version.name)))
