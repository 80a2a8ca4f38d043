"""apiVersion and kind, which decoders read first, and a real server's errors for other kinds and versions.

Source: the meta factory and the scheme of k8s.io/apimachinery.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import field
from typing import Any, NamedTuple

from podless.codec import gotext
from podless.runtime.dataclass import dataclass
from podless.runtime.release import CURRENT
from podless.structs import gotypes

# kinds that every scheme knows in any version
UNVERSIONED = frozenset({"APIGroup", "APIGroupList", "APIResourceList", "APIVersions", "Status"})
# the error for a custom object whose apiVersion is null
NULL_VERSION = ".apiVersion accessor error: <nil> is of the type <nil>, expected string"
_STRUCT = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'


@dataclass(frozen=True, slots=True, eq=False)
class GoScheme:
    """The Go types that a decoder knows.

    source: the Go source line that constructs the scheme, for errors. kinds: by apiVersion. moved: by group, kinds that
    are in another group now, with that group.
    """

    source: str = ""
    kinds: dict[str, Collection[str]] = field(default_factory=dict)
    moved: dict[str, dict[str, str]] = field(default_factory=dict)

    def explain_unfit(self, kind: str, api_version: str, type_name: str) -> str:
        """Return why an object that claims to be a `kind` is not the Go type `type_name`."""
        if kind in UNVERSIONED:
            return explain_inconvertible(f"v1.{kind}", type_name)
        if kind in self.kinds.get(api_version, ()):
            return explain_inconvertible(f"{api_version.rpartition('/')[2]}.{kind}", type_name)
        return explain_unregistered(kind, api_version, self.source)

    def can_convert(self, kind: str, api_version: str, targets: Collection[tuple[str, str]]) -> bool:
        """Return whether a `kind` of a version converts to a kind of this name in these groups and apiVersions."""
        group = api_version.rpartition("/")[0]
        group = self.moved.get(group, {}).get(kind, group)
        if (group, api_version) in targets:
            return True
        return kind in self.kinds.get(api_version, ()) and group in {target_group for target_group, _ in targets}


def explain_inconvertible(type_name: str, wanted: str) -> str:
    """Return that a scheme knows a Go type, but cannot convert it to the wanted one."""
    return f"converting ({type_name}) to ({wanted}): unknown conversion"


def explain_unregistered(kind: str, api_version: str, source: str) -> str:
    """Return that a scheme, constructed at the Go line `source`, does not know a kind."""
    source = gotext.quote(CURRENT.get().sources(source))
    problem = f"is registered for version {gotext.quote(api_version)} in scheme {source}"
    return f"no kind {gotext.quote(kind)} {problem}"


NO_SCHEME = GoScheme()


class TypeMeta(NamedTuple):
    """apiVersion and kind; "" if missing."""

    api_version: str
    kind: str


def read_type_meta(value: Any) -> TypeMeta:
    """Return apiVersion and kind of decoded JSON. Raises ValueError with Go's text."""
    if value is None:
        return TypeMeta("", "")
    if not isinstance(value, dict):
        raise unreadable_error(gotypes.explain_unmarshal(value, f"value of type {_STRUCT}"))
    kind, api_version = value.get("kind") or "", value.get("apiVersion") or ""
    if type(kind) is not str or type(api_version) is not str or not (kind and api_version):
        for name in ("kind", "apiVersion"):
            if not isinstance(value.get(name, ""), str | None):
                target = f"struct field .{name} of type string"
                raise unreadable_error(gotypes.explain_unmarshal(value[name], target))
    if api_version.count("/") > 1:
        raise ValueError(f"unexpected GroupVersion string: {api_version}")
    return TypeMeta(api_version, kind)


def unreadable_error(reason: object) -> ValueError:
    """Return the error for a body that is not a JSON object."""
    return ValueError(f"couldn't get version/kind; json parse error: {reason}")
