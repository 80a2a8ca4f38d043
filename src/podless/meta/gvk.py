"""Groups, versions and kinds: their texts, and the order in which versions come."""

from __future__ import annotations

import re
from typing import NamedTuple

from podless.codec.gotext import MAX_INT64, parse_natural

_KUBE_VERSION = re.compile(r"v([0-9]++)(?:(alpha|beta)([0-9]++))?")
_STAGES = {None: 2, "beta": 1, "alpha": 0}


class GroupVersion(NamedTuple):
    """An API group and one of its versions; the core group is the empty string."""

    group: str
    version: str

    def __str__(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version


def parse_api_version(text: str) -> GroupVersion | None:
    """Return the group and version in an apiVersion, None if it has more than one slash."""
    if text.count("/") > 1:
        return None
    group, _, version = text.rpartition("/")
    return GroupVersion(group, version)


def rank_version(version: str) -> tuple[int, int, int, int, str]:
    """Return a sort key for the order in which Kubernetes prefers versions, the most preferred first.

    v10, v2, v1, then v11beta2, v10beta3, then alphas, then all other names alphabetically. Source: the version priority
    of the CustomResourceDefinition documents.
    """
    match = _KUBE_VERSION.fullmatch(version)
    if not match:
        return (1, 0, 0, 0, version)
    major, minor = parse_natural(match[1]), parse_natural(match[3] or "")
    if major > MAX_INT64 or minor > MAX_INT64:  # counts as any other name
        return (1, 0, 0, 0, version)
    return (0, -_STAGES[match[2]], -major, -minor, version)


def guess_plural(kind: str) -> str:
    """Return the plural that Kubernetes gives a kind: crontabs for CronTab."""
    name = kind.lower()
    if name == "endpoints":
        return name
    if name.endswith("s"):
        return f"{name}es"
    return f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"
