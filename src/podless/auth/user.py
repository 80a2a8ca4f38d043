"""The user of a request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from podless.meta import names
from podless.runtime.dataclass import dataclass

MASTERS = "system:masters"
AUTHENTICATED = "system:authenticated"
UNAUTHENTICATED = "system:unauthenticated"


@dataclass(frozen=True, slots=True)
class User:
    """A user: name, uid, groups, and extra values by key."""

    name: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)

    @property
    def is_master(self) -> bool:
        """Whether the user is in system:masters, which may do everything."""
        return MASTERS in self.groups

    @property
    def info(self) -> dict[str, Any]:
        """The UserInfo of authentication.k8s.io/v1, for reviews and webhooks."""
        extra = {key: list(values) for key, values in sorted(self.extra.items())}
        info = {"username": self.name, "uid": self.uid, "groups": list(self.groups), "extra": extra}
        return {name: value for name, value in info.items() if value}


ADMIN = User("admin", "admin", (MASTERS, AUTHENTICATED))
ANONYMOUS = User("system:anonymous", "", (UNAUTHENTICATED,))
# the server itself, for writes that no client requested
SERVER = User("system:apiserver", "", (MASTERS, AUTHENTICATED))

_ACCOUNT = "system:serviceaccount:"


def account_user(namespace: str, name: str, uid: str = "", extra: Mapping[str, tuple[str, ...]] | None = None) -> User:
    """Return the user of a service account."""
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", AUTHENTICATED)
    return User(f"{_ACCOUNT}{namespace}:{name}", uid, groups, extra or {})


def parse_account(name: str) -> tuple[str, str] | None:
    """Return namespace and name of the service account that the user is; None for other users."""
    if not name.startswith(_ACCOUNT):
        return None
    namespace, colon, account_name = name.removeprefix(_ACCOUNT).partition(":")
    if not colon or names.check_label_name(namespace) or names.check_subdomain(account_name):
        return None
    return namespace, account_name
