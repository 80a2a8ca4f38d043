"""The names of ThirdPartyResources, and the kinds that they define, which preserve all fields.

cron-tab.mygroup.example.com defines the kind CronTab in mygroup.example.com. Source: the design of ThirdPartyResource,
and the guess of plurals in k8s.io/apimachinery.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from podless.kinds.custom import CustomStrategy
from podless.kinds.kind import VERBS, VERBS_TERMINATING, Kind, Version, sort_versions
from podless.meta import names
from podless.meta.gvk import guess_plural
from podless.runtime.lazy import compile_late
from podless.runtime.meter import each

_SEGMENTS = 3  # segments of a name: the kind, and at least two of the domain
_TOO_SHORT = "must be at least three segments long: <kind>.<domain>.<tld>"
_WORDS = compile_late(r"[a-z][a-z0-9]*+(?:-[a-z][a-z0-9]*+)*+")
_KIND = (
    "the first segment must be a kind in lower case, each of whose words begins with a letter, such as cron-tab for "
    "CronTab"
)


class Defined(NamedTuple):
    """The kind that the name of a ThirdPartyResource defines."""

    kind: str
    group: str

    @property
    def plural(self) -> str:
        """The plural, as in URL paths."""
        return guess_plural(self.kind)

    @property
    def resources(self) -> set[str]:
        """The names that clients use for it: the plural and the singular."""
        return {self.plural, self.kind.lower()}


def parse_defined_name(name: str) -> Defined:
    """Return the kind and group that a name defines. Raises ValueError for an invalid name."""
    faults = name_faults(name)
    if faults:
        raise ValueError(faults[0])
    words, _, group = name.partition(".")
    return Defined("".join(word[0].upper() + word[1:] for word in each(words.split("-"))), group)


def name_faults(name: str) -> list[str]:
    """Return the faults of a ThirdPartyResource's name."""
    result = names.check_subdomain(name)
    if result:
        return result
    words, *domain = name.split(".")
    if 1 + len(domain) < _SEGMENTS:
        return [_TOO_SHORT]
    return [] if _WORDS.fullmatch(words) else [_KIND]


class ThirdPartyStrategy(CustomStrategy):
    """Strategy of these objects. Updates need no resourceVersion."""

    allow_unconditional_update = True


def compile_third(resource: dict[str, Any], *, created: int, changed: int) -> Kind:
    """Return the kind of a stored ThirdPartyResource. Objects are stored in its first version.

    created, changed: the revisions of its creation and of its latest change.
    """
    metadata = resource["metadata"]
    kind, group = defined = parse_defined_name(metadata["name"])
    terminating = "deletionTimestamp" in metadata
    versions = [Version(version["name"]) for version in each(resource["versions"])]
    return Kind(
        group=group,
        plural=defined.plural,
        kind=kind,
        singular=kind.lower(),
        list_kind=f"{kind}List",
        namespaced=True,
        versions=sort_versions(versions),
        storage_version=versions[0].name,
        strategy=ThirdPartyStrategy(preserve=True),
        preserve=True,
        uid=metadata["uid"],
        created=created,
        changed=changed,
        terminating=terminating,
        verbs=VERBS_TERMINATING if terminating else VERBS,
    )
