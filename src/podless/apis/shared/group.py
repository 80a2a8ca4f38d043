"""The classes with which the group.py of a folder declares an API group and its kinds.

Rules are declared by name, and imported with the structs at first use (kinds/late.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import partial
from importlib import import_module
from typing import Any

from podless.apis.features import RECORDED
from podless.apis.schemes import find_scheme
from podless.kinds.kind import Kind, Scale, Subresource, Version
from podless.kinds.late import NOT_YET, LateKind
from podless.kinds.strategy import Strategy
from podless.meta.gvk import guess_plural
from podless.runtime.dataclass import dataclass
from podless.runtime.release import covers
from podless.structs.structfiles import find_home, folder_of, load_struct
from podless.structs.structs import Struct

# in the order of discovery
VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
READ = "get list watch"
WRITE = "create delete deletecollection patch update"
CUSTOM = 1000  # the priority of groups of definitions


@dataclass(frozen=True, eq=False)
class Group:
    """A built-in API group; name is "" for core."""

    name: str
    priority: int = CUSTOM  # discovery lists groups with a higher one first
    # the same for versions, if they differ from the usual ones
    version_priorities: Mapping[str, int] = field(default_factory=dict)
    needed: bool = False  # the server needs the kinds, so they cannot be left out
    off_by_default: tuple[str, ...] = ()  # versions that are served only with --runtime-config
    # view, edit, admin: the rules that the group adds to these roles: verbs and resources, separated by spaces, then
    # API groups if they differ from this one
    view: tuple[tuple[str, ...], ...] = ()
    edit: tuple[tuple[str, ...], ...] = ()
    admin: tuple[tuple[str, ...], ...] = ()
    package: str = ""  # the prefix of the version in names of OpenAPI components, if it does not follow from the name
    # further kinds that kube-apiserver's decoder knows: by version, kinds without a list that are not declared
    unlisted: Mapping[str, str] = field(default_factory=dict)
    # by version that is not served, its kinds, "*" for those of v1
    earlier: Mapping[str, str] = field(default_factory=dict)
    moved: Mapping[str, str] = field(default_factory=dict)  # kinds by the group that has them now
    kinds: list[Kind] = field(init=False, default_factory=list)  # all kinds in discovery
    optional: list[Kind] = field(init=False, default_factory=list)  # those that can be left out
    sent_kinds: list[Kind] = field(init=False, default_factory=list)  # those that are only sent to subresources

    def kind(self, noun: str, *short_names: str, needed: bool = False, **facts: Any) -> Kind:
        """Declare a served kind; for the arguments see `_declare_kind`."""
        kind = self._declare_kind(noun, short_names, **facts)
        self.kinds.append(kind)
        if not (needed or self.needed):
            self.optional.append(kind)
        return kind

    def review(self, noun: str, *, namespaced: bool = False) -> Kind:
        """Declare a virtual kind, whose objects are answered and not stored."""
        return self.kind(noun, namespaced=namespaced, verbs=("create",), virtual=True)

    def send(self, noun: str, **facts: Any) -> Kind:
        """Declare a kind that is sent to a subresource, and neither stored nor in discovery."""
        facts = {"plural": f"{noun.lower()}s", "verbs": ("create",)} | facts
        kind = self._declare_kind(noun, (), virtual=True, **facts)
        self.sent_kinds.append(kind)
        return kind

    def list_registered(self) -> dict[str, list[str]]:
        """Return the names of all kinds and lists that kube-apiserver's decoder knows, by version.

        Kinds of releases newer than the recorded one are left out.
        """
        result: dict[str, list[str]] = {}
        for kind in (*self.kinds, *self.sent_kinds):
            for version in (entry for entry in kind.versions if covers(entry.releases, RECORDED)):
                result.setdefault(version.name, []).extend(_kind_and_list(kind.kind, virtual=kind.virtual))
        for name, nouns in self.earlier.items():
            result[name] = (
                result["v1"] if nouns == "*" else [item for noun in nouns.split() for item in _kind_and_list(noun)]
            )
        for name, nouns in self.unlisted.items():
            result[name] = result.get(name, []) + nouns.split()
        return result

    def _declare_kind(
        self,
        noun: str,
        short_names: tuple[str, ...],
        *,
        plural: str = "",
        versions: tuple[str, ...] = ("v1",),
        namespaced: bool = True,
        status: bool = False,
        status_ahead: str = "",
        scale: Scale | None = None,
        subresources: tuple[Subresource, ...] = (),
        verbs: tuple[str, ...] = VERBS,
        virtual: bool = False,
        rules: str = "",
        deprecated: Mapping[str, str] | None = None,
        deprecated_in: str = "",
        home: Kind | None = None,
        others: tuple[str, ...] = (),
        releases: str | Mapping[str, str] = "",
        **facts: Any,
    ) -> Kind:
        """Return a kind that is stored in the first of its versions.

        rules: the place of its strategy, such as module:NAME in this folder or folder.module:NAME (default: STRATEGY in
        the module named after the plural; none for virtual kinds). subresources: those other than status and scale.
        status_ahead: as in Version. deprecated: the warning to users of a version. deprecated_in: the releases that
        send it. others: the place of the kinds that show the same objects. releases: those that serve the kind, "" for
        all (runtime/release.py); a mapping has those of single versions. home and facts: as in Kind.

        A status, and a field with `ahead`, of a release that is not recorded are there only in a server of that
        release; a kind and a field with `since` are there outside a server, too.
        """
        plural, deprecations = plural or guess_plural(noun), deprecated or {}
        spans = dict.fromkeys(versions, releases) if isinstance(releases, str) else releases
        module = rules or ("shared.typed:TypedStrategy" if virtual else f"{plural}:STRATEGY")
        if "." not in module:
            module = f"{folder_of(self.name)}.{module}"
        return LateKind(
            group=self.name,
            plural=plural,
            kind=noun,
            singular=noun.lower(),
            list_kind=f"{noun}List",
            namespaced=namespaced,
            versions=tuple(
                Version(
                    version,
                    status=status,
                    status_ahead=status_ahead,
                    scale=scale,
                    deprecated=version in deprecations,
                    deprecation_warning=deprecations.get(version, ""),
                    deprecated_in=deprecated_in,
                    releases=spans.get(version, ""),
                )
                for version in versions
            ),
            storage_version=versions[0] if home is None else "",
            strategy=NOT_YET,
            scheme=find_scheme(self.name),
            short_names=short_names,
            more_subresources=subresources,
            verbs=verbs,
            virtual=virtual,
            home=home,
            read_others=partial(_load_all, others) if others else tuple,
            rules=partial(_load_strategy, module),
            fields=partial(_load_structs, self.name, versions, noun),
            **facts,
        )


def _kind_and_list(noun: str, *, virtual: bool = False) -> tuple[str, ...]:
    return (noun,) if virtual else (noun, f"{noun}List")


def _import_reference(reference: str) -> Any:
    """Return the object of a reference below podless.apis, such as core.pods:STRATEGY."""
    module, _, name = reference.partition(":")
    return getattr(import_module(f"podless.apis.{module}"), name)


def _load_all(references: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple(map(_import_reference, references))


def _load_strategy(reference: str) -> Strategy[Kind]:
    loaded: Strategy[Kind] = _import_reference(reference)
    return loaded() if isinstance(loaded, type) else loaded


def _load_structs(group: str, versions: tuple[str, ...], noun: str) -> Mapping[str, Struct]:
    return {version: load_struct(find_home(group, version), noun) for version in versions}
