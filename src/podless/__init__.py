"""podless: the Kubernetes API without the pods."""

from __future__ import annotations

import importlib
import logging
from typing import TYPE_CHECKING, Any

from podless.version import __version__

if TYPE_CHECKING:
    from podless.auth.access import OIDC as OIDC
    from podless.auth.user import User as User
    from podless.explore import explore_test as explore
    from podless.http.audit import Audit as Audit
    from podless.http.limits import Limits as Limits
    from podless.models.definition import crd as crd
    from podless.plan import plan_set as plan
    from podless.runtime.option import StartError as StartError
    from podless.server import Server as Server
    from podless.store.etcd.settings import Etcd as Etcd
    from podless.store.history import Keep as Keep

__all__ = [
    "OIDC",
    "Audit",
    "Etcd",
    "Keep",
    "Limits",
    "Server",
    "StartError",
    "User",
    "__version__",
    "crd",
    "explore",
    "plan",
]

# modules of the public names, imported at first use: most users need only some of them
_PLACES = {
    "Audit": "podless.http.audit",
    "Etcd": "podless.store.etcd.settings",
    "Keep": "podless.store.history",
    "Limits": "podless.http.limits",
    "OIDC": "podless.auth.access",
    "Server": "podless.server",
    "StartError": "podless.runtime.option",
    "User": "podless.auth.user",
    "crd": "podless.models.definition",
}
_MODULES = ("explore", "plan")  # modules that can also be called

# a program that embeds a server sees the log only if it configures logging
logging.getLogger("podless").addHandler(logging.NullHandler())


def __getattr__(name: str) -> Any:
    """Import a public module at first use: podless.schema and others need no server."""
    if name in _PLACES:
        return getattr(importlib.import_module(_PLACES[name]), name)
    if name in _MODULES:
        return importlib.import_module(f"podless.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names, imported or not."""
    return sorted({*globals(), *__all__})
