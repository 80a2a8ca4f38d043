"""What a server is told about who may come in and who may do what."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

MODES = ("RBAC", "AlwaysAllow")


@dataclass(frozen=True, slots=True)
class Access:
    """Authentication and authorization of a server.

    mode: RBAC, or AlwaysAllow for everything to everybody who is known. anonymous: whether requests that do not say
    whose they are get as far as authorization; never with AlwaysAllow. client_ca: a file of authorities whose client
    certificates are good, beside those of the server's own.
    """

    mode: str = "RBAC"
    anonymous: bool = True
    client_ca: Path | None = None

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise ValueError(f"unknown authorization mode {self.mode!r}: it is one of {', '.join(MODES)}")
