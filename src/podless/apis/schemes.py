"""kube-apiserver's Go schemes: the kinds that each of them has registered.

These are far more than podless serves; apis/catalog.py registers them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from podless.apis.release import RECORDED_FACTS
from podless.kinds.scheme import GoScheme

_OPTIONS = "CreateOptions DeleteOptions GetOptions ListOptions PatchOptions UpdateOptions WatchEvent"
_SCHEMES = {name: GoScheme(source) for name, source in RECORDED_FACTS.schemes.items()}


def register_kinds(group: str, kinds: Mapping[str, Iterable[str]], moved: Mapping[str, str]) -> None:
    """Register the kinds of a group by version, and kinds that moved to other groups, by group.

    Only apis/catalog.py calls this, for all groups, when it is imported.
    """
    scheme = find_scheme(group)
    for version, names in kinds.items():
        group_version, kind_names = f"{group}/{version}" if group else version, [*names]
        if kind_names:
            scheme.kinds[group_version] = frozenset([*kind_names, *_OPTIONS.split()])
    scheme.moved.setdefault(group, {}).update({kind: now for now, names in moved.items() for kind in names.split()})


def find_scheme(group: str) -> GoScheme:
    """Return the scheme of a group's built-in kinds."""
    return _SCHEMES.get(group, _SCHEMES["legacy"])


def make_review_scheme(group: str) -> GoScheme:
    """Return the scheme with which webhook clients read reviews of a group."""
    kinds_read = {
        version: kinds for version, kinds in find_scheme(group).kinds.items() if version.startswith(f"{group}/")
    }
    return GoScheme(RECORDED_FACTS.schemes["webhooks"], kinds_read)
