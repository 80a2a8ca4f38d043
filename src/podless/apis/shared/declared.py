"""What is said of a built-in kind where it is declared; the rest follows from its noun and its versions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from podless.apis.schemes import find_scheme
from podless.kinds.kind import Kind, Scale, Subresource, Version
from podless.kinds.late import NOT_YET, LateKind
from podless.kinds.strategy import Strategy
from podless.structs.structs import Struct

# in the order that discovery shows them
VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


def declare(
    group: str,
    noun: str,
    plural: str,
    *short: str,
    strategy: Strategy[Kind] = NOT_YET,
    struct: Struct | None = None,
    late: tuple[Callable[[], Strategy[Kind]], Callable[[], Mapping[str, Struct]]] | None = None,
    namespaced: bool = True,
    categories: tuple[str, ...] = (),
    status: bool = False,
    scale: Scale | None = None,
    below: tuple[Subresource, ...] = (),
    versions: tuple[str, ...] = ("v1",),
    verbs: tuple[str, ...] = VERBS,
    virtual: bool = False,
    hashed: bool = True,
    hash_version: str = "",
    shown_deleted: bool = False,
    deprecation: str = "",
    releases: str = "",
    home: Kind | None = None,
    others: Callable[[], tuple[Kind, ...]] = tuple,
) -> Kind:
    """A built-in kind, stored in the first of its versions.

    strategy, struct: its rules and fields; late: what gives them, the fields by version, when they are first asked for.
    below: subresources beside status and scale. deprecation: what its users are told, "" where it is not deprecated.
    releases: those that serve it, "" for all (runtime/release.py).
    hash_version, shown_deleted, home, others: as a Kind has them.
    """
    facts: dict[str, Any] = {
        "group": group,
        "plural": plural,
        "kind": noun,
        "singular": noun.lower(),
        "list_kind": f"{noun}List",
        "namespaced": namespaced,
        "versions": tuple(
            Version(
                name,
                status=status,
                scale=scale,
                deprecated=bool(deprecation),
                deprecation_warning=deprecation,
                releases=releases,
            )
            for name in versions
        ),
        "storage_version": versions[0] if home is None else "",
        "short_names": short,
        "categories": categories,
        "more_subresources": below,
        "verbs": verbs,
        "virtual": virtual,
        "hashed": hashed,
        "hash_version": hash_version,
        "shown_deleted": shown_deleted,
        "home": home,
        "others": others,
        "scheme": find_scheme(group),
    }
    if late is not None:
        return LateKind(strategy=NOT_YET, rules=late[0], fields=late[1], **facts)
    return Kind(strategy=strategy, struct=struct, **facts)
