"""Which Kubernetes release is served, and differences between releases other than kinds, fields, gates and changes.

All layers ask `Facts`; no module outside of apis names a version. Source: kube-apiserver of that release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from podless.apis.features import PATCHES, RECORDED
from podless.runtime.bounded import bounded_cache
from podless.runtime.dataclass import dataclass
from podless.runtime.datafiles import read_blocks
from podless.runtime.release import Release, covers


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """Facts about a release that are not a kind, field, gate or change.

    schemes: the lines of Go that construct kube-apiserver's schemes, which its errors name: of groups with their own
    scheme, of all other groups ("legacy"), of DeleteOptions ("options"), of the Scale of custom objects ("scale"), and
    of reviews that webhooks answer ("webhooks"). groups: the group-versions in which kinds of all groups, such as
    DeleteOptions, are registered. more_groups: those that only OpenAPI v2 lists. parameters, bodies: names of shared
    parameters and bodies in OpenAPI v2, each with the hash that the release gives it.
    """

    minor: int
    patch: int
    schemes: Mapping[str, str]
    groups: Mapping[str, tuple[str, ...]]
    more_groups: Mapping[str, tuple[str, ...]]
    parameters: Mapping[str, str]
    bodies: Mapping[str, str]

    @property
    def name(self) -> str:
        """The release as users and documents name it, without the patch."""
        return f"1.{self.minor}"

    @property
    def version(self) -> str:
        """The version as a Git tag: v1.36.2."""
        return f"v{self.name}.{self.patch}"

    @property
    def compatible(self) -> int:
        """The oldest minor release that the server can be rolled back to."""
        return self.minor - 1


_TABLES = read_blocks(Path(__file__).with_name("release.txt"))


def _groups_in(minor: int) -> Mapping[str, tuple[str, ...]]:
    """Return the group-versions in which a release registers kinds of all groups."""
    groups: dict[str, tuple[str, ...]] = {}
    for name, words in _TABLES["groups"]:
        versions = (word.partition(":") for word in words.split())
        if registered := tuple(version for version, _, span in versions if covers(span, minor)):
            groups["" if name == "core" else name] = registered
    return groups


RECORDED_FACTS = Facts(
    minor=RECORDED,
    patch=PATCHES[RECORDED],
    schemes=dict(_TABLES["schemes"]),
    groups=_groups_in(RECORDED),
    more_groups={group: tuple(versions.split()) for group, versions in _TABLES["more"]},
    parameters=dict(_TABLES["parameters"]),
    bodies=dict(_TABLES["bodies"]),
)


@bounded_cache(16)
def facts_of(release: Release) -> Facts:
    """Return the facts about a release: those of the newest recorded one, with the known differences."""
    minor = release.minor
    if not release.name or minor == RECORDED:
        return RECORDED_FACTS
    return replace(RECORDED_FACTS, minor=minor, patch=PATCHES[minor], groups=_groups_in(minor))
