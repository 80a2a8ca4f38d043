"""Settings of authentication and authorization."""

from __future__ import annotations

import os
from collections.abc import Mapping

from podless.runtime.dataclass import dataclass
from podless.runtime.option import StartError, file_option, option

MODES = ("RBAC", "AlwaysAllow")


class BadAccess(StartError, ValueError):
    """A setting of authentication is invalid. The text is one line for the user."""


# signature algorithms that a provider may use: those with a public key
ALGORITHMS = ("RS256", "RS384", "RS512", "ES256", "ES384", "ES512", "PS256", "PS384", "PS512")


def parse_claim(text: str) -> tuple[str, str]:
    """Split CLAIM=VALUE. Raises ValueError."""
    name, sign, value = text.partition("=")
    if not name or not sign:
        raise ValueError("expected CLAIM=VALUE")
    return name, value


@dataclass(frozen=True, slots=True)
class OIDC:
    """An OpenID Connect provider; the help text of each field describes it.

    username_prefix: None for the issuer and "#", or no prefix if the claim is email. ca_file: None for the system's
    CAs. Raises BadAccess for invalid settings.
    """

    issuer: str = option("--oidc-issuer-url", "issuer URL of the provider: the claim iss of its tokens", metavar="URL")
    client_id: str = option("--oidc-client-id", "client ID that the claim aud of tokens must contain", metavar="ID")
    username_claim: str = option(
        "--oidc-username-claim", "claim that holds the user name", value="sub", metavar="CLAIM"
    )
    username_prefix: str | None = option(
        "--oidc-username-prefix",
        'prefix for user names; "-" for none. Default: the issuer and "#", none for the claim email',
        value=None,
        metavar="TEXT",
    )
    groups_claim: str = option("--oidc-groups-claim", "claim that holds the groups", value="", metavar="CLAIM")
    groups_prefix: str = option("--oidc-groups-prefix", "prefix for group names", value="", metavar="TEXT")
    ca_file: str | os.PathLike[str] | None = file_option(
        "--oidc-ca-file", "PEM file with the CAs of the provider's certificate"
    )
    required: Mapping[str, str] = option(
        "--oidc-required-claim",
        "claim that every token must have (repeatable)",
        factory=dict,
        metavar="CLAIM=VALUE",
        parse=parse_claim,
        combine=dict,
    )
    algorithms: tuple[str, ...] = option(
        "--oidc-signing-algs",
        "accepted signature algorithms",
        value=ALGORITHMS[:1],
        metavar="NAME,...",
        parse=lambda text: tuple(text.split(",")),
        default=ALGORITHMS[0],
    )

    def __post_init__(self) -> None:
        if not self.issuer:
            raise BadAccess("--oidc-client-id requires --oidc-issuer-url")
        if not self.issuer.startswith("https://"):
            raise BadAccess(f"an OIDC issuer must be an https URL, not {self.issuer!r}")
        if not self.client_id:
            raise BadAccess("--oidc-issuer-url requires --oidc-client-id")
        for name in self.algorithms:
            if name not in ALGORITHMS:
                raise BadAccess(f"unknown signature algorithm {name!r}: use one of {', '.join(ALGORITHMS)}")

    @property
    def prefix(self) -> str:
        """The prefix of user names."""
        if self.username_prefix is None:
            return "" if self.username_claim == "email" else f"{self.issuer}#"
        return "" if self.username_prefix == "-" else self.username_prefix
