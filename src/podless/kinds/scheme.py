"""Error texts of a real server's decoders for bodies of other kinds and versions."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from podless.codec import gotext
from podless.runtime.release import CURRENT


@dataclass(frozen=True, slots=True, eq=False)
class Scheme:
    """The Go types that a decoder knows.

    source: the Go source line that constructs the scheme, for errors. kinds: by apiVersion. moved: by group, kinds that
    are in another group now, with that group.
    """

    source: str = ""
    kinds: dict[str, Collection[str]] = field(default_factory=dict)
    moved: dict[str, dict[str, str]] = field(default_factory=dict)

    def explain_unfit(self, given: str, api_version: str, wanted: str) -> str:
        """Return why an object that claims to be a `given` is not the Go type `wanted`."""
        if given in self.kinds.get(api_version, ()):
            return f"converting ({api_version.rpartition('/')[2]}.{given}) to ({wanted}): unknown conversion"
        return explain_unregistered(given, api_version, self.source)

    def converts(self, given: str, api_version: str, shown: Collection[tuple[str, str]]) -> bool:
        """Return whether a `given` of a version converts to a kind of this name in these groups and apiVersions."""
        group = api_version.rpartition("/")[0]
        group = self.moved.get(group, {}).get(given, group)
        if (group, api_version) in shown:
            return True
        return given in self.kinds.get(api_version, ()) and group in {one for one, _ in shown}


def explain_unregistered(given: str, api_version: str, source: str) -> str:
    """Return that a scheme, constructed at the Go line `source`, does not know a kind."""
    source = gotext.quote(CURRENT.get().sources(source))
    where = f"is registered for version {gotext.quote(api_version)} in scheme {source}"
    return f"no kind {gotext.quote(given)} {where}"


NO_SCHEME = Scheme()
