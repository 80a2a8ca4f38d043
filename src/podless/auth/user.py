"""Who asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

MASTERS = "system:masters"
AUTHENTICATED = "system:authenticated"
UNAUTHENTICATED = "system:unauthenticated"


@dataclass(frozen=True, slots=True)
class User:
    """Who asks: a name, a uid, groups, and what else an authenticator has to say, by key."""

    name: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)

    @property
    def master(self) -> bool:
        """Whether nothing is refused to this user."""
        return MASTERS in self.groups


ADMIN = User("admin", "admin", (MASTERS, AUTHENTICATED))
ANONYMOUS = User("system:anonymous", "", (UNAUTHENTICATED,))
# the server itself, where it does what nobody asked for
SERVER = User("system:apiserver", "", (MASTERS, AUTHENTICATED))
