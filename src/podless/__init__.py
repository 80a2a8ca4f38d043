"""podless: the Kubernetes API without the pods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from podless.server import Server as Server
    from podless.server import StartError as StartError

__version__ = "0.1.0"
__all__ = ["Server", "StartError", "__version__"]


def __getattr__(name: str) -> Any:
    """Import the server only for those who ask for it: podless.schema and others are of use without."""
    if name in ("Server", "StartError"):
        from podless import server

        return getattr(server, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
