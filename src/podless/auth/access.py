"""What a server is told about who may come in and who may do what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

MODES = ("RBAC", "AlwaysAllow")


class BadAccess(ValueError):
    """The server cannot be told this; the text is one clear line for a person."""


# signatures that a provider may make: those with a public key
ALGORITHMS = ("RS256", "RS384", "RS512", "ES256", "ES384", "ES512", "PS256", "PS384", "PS512")


@dataclass(frozen=True, slots=True)
class OIDC:
    """An OpenID Connect provider whose tokens are good.

    issuer: its URL, which tokens must name. client_id: whom they must be for. username_claim: names the user, with
    username_prefix before it; None: the issuer and #, but nothing for the claim email; "-": nothing. groups_claim: one
    group or a list, with groups_prefix before each. ca_file: authorities that the provider's certificate is checked
    with, None for the system's. required: claims that must have a value. algorithms: of signatures.
    Raises BadAccess for what cannot work.
    """

    issuer: str
    client_id: str
    username_claim: str = "sub"
    username_prefix: str | None = None
    groups_claim: str = ""
    groups_prefix: str = ""
    ca_file: Path | None = None
    required: Mapping[str, str] = field(default_factory=dict)
    algorithms: tuple[str, ...] = ("RS256",)

    def __post_init__(self) -> None:
        if not self.issuer.startswith("https://"):
            raise BadAccess(f"an OIDC issuer is an https URL, not {self.issuer!r}")
        if not self.client_id:
            raise BadAccess("an OIDC issuer needs a client id, which its tokens are for")
        for name in self.algorithms:
            if name not in ALGORITHMS:
                raise BadAccess(f"unknown signature {name!r}: it is one of {', '.join(ALGORITHMS)}")

    @property
    def prefix(self) -> str:
        """What stands before users' names."""
        if self.username_prefix is None:
            return "" if self.username_claim == "email" else f"{self.issuer}#"
        return "" if self.username_prefix == "-" else self.username_prefix


@dataclass(frozen=True, slots=True)
class Access:
    """Authentication and authorization of a server.

    mode: RBAC, or AlwaysAllow for everything to everybody who is known. anonymous: whether requests that do not say
    whose they are get as far as authorization; never with AlwaysAllow. client_ca: a file of authorities whose client
    certificates are good, beside those of the server's own. oidc: a provider whose tokens are good.
    """

    mode: str = "RBAC"
    anonymous: bool = True
    client_ca: Path | None = None
    oidc: OIDC | None = None

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise BadAccess(f"unknown authorization mode {self.mode!r}: it is one of {', '.join(MODES)}")
