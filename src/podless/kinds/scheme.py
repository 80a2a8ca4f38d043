"""What a decoder of a real server says of a body that claims to be of another kind, or of another version."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from podless.codec import gotext
from podless.runtime.release import CURRENT


@dataclass(frozen=True, slots=True, eq=False)
class Scheme:
    """The Go types that a decoder knows.

    source: the line of Go that constructs the scheme, which errors name. kinds: by apiVersion. moved: by group, kinds
    that are in another group now, with that group.
    """

    source: str = ""
    kinds: dict[str, Collection[str]] = field(default_factory=dict)
    moved: dict[str, dict[str, str]] = field(default_factory=dict)

    def explain_unfit(self, given: str, api_version: str, wanted: str) -> str:
        """Say why an object that says that it is a `given` is not read as the Go type `wanted`."""
        if given in self.kinds.get(api_version, ()):
            return f"converting ({api_version.rpartition('/')[2]}.{given}) to ({wanted}): unknown conversion"
        return explain_unregistered(given, api_version, self.source)

    def converts(self, given: str, api_version: str, shown: Collection[tuple[str, str]]) -> bool:
        """Return whether a `given` of a version becomes a kind of this name, shown in these groups and apiVersions."""
        group = api_version.rpartition("/")[0]
        group = self.moved.get(group, {}).get(given, group)
        if (group, api_version) in shown:
            return True
        return given in self.kinds.get(api_version, ()) and group in {one for one, _ in shown}


def explain_unregistered(given: str, api_version: str, source: str) -> str:
    """Say that a scheme, which the line of Go `source` constructs, does not know a kind."""
    source = gotext.quote(CURRENT.get().sources(source))
    where = f"is registered for version {gotext.quote(api_version)} in scheme {source}"
    return f"no kind {gotext.quote(given)} {where}"


NO_SCHEME = Scheme()
