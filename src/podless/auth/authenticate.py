"""Authentication: client certificates, then bearer tokens, then anonymous.

Results are cached while they are valid, so a known client costs one dictionary look-up.
"""

from __future__ import annotations

from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from podless.auth.access import OIDC
from podless.auth.accounts import Accounts
from podless.auth.certificates import Certificate
from podless.auth.tokens import Tokens
from podless.auth.user import ANONYMOUS, User
from podless.auth.verdict import Issued, TokenVerdict, read_issuer
from podless.meta.errors import Unauthorized
from podless.runtime.option import section

AUDIENCE = "https://kubernetes.default.svc"
INVALID = "invalid bearer token"
_KEEP = 1024


@dataclass(frozen=True, kw_only=True)
class Authenticators:
    """The optional authenticators: a section of options for each."""

    oidc: OIDC | None = section(
        OIDC,
        "OpenID Connect",
        "tokens of an identity provider, as for kube-apiserver",
        given=("issuer", "client_id"),
    )

    def authenticators(self, audience: str) -> list[Issued]:
        """Return the configured authenticators, in order. audience: of this server."""
        if self.oidc is None:
            return []
        from podless.auth.oidc import Provider  # imported late: few servers have a provider

        return [Provider(self.oidc, audience)]


class Authenticator:
    """Authenticates requests. anonymous: accept requests without credentials.

    accounts: issues and verifies service account tokens, None to accept none. others: further token authenticators.
    """

    def __init__(
        self,
        tokens: Tokens,
        accounts: Accounts | None = None,
        others: Sequence[Issued] = (),
        *,
        anonymous: bool = True,
    ) -> None:
        self.accounts = accounts
        self._tokens = tokens
        self._issued: tuple[Issued, ...] = (accounts, *others) if accounts is not None else tuple(others)
        self._anonymous = anonymous
        self._known: dict[str, TokenVerdict] = {}  # key: the Authorization header

    def authenticate(
        self, headers: Mapping[str, str], certificate: Certificate | None
    ) -> User | Coroutine[Any, Any, User]:
        """Return the user, or a coroutine that returns it. Both raise Unauthorized."""
        if certificate is not None and (user := certificate.user) is not None:
            return user
        header = headers.get("authorization", "")
        if not header:
            return self._nobody(certificate)
        known = self._known.get(header)
        if known is not None and known.user is not None and (known.holds is None or known.holds()):
            return known.user
        scheme, _, rest = header.partition(" ")
        token = rest.split(" ")[0]
        if scheme.lower() != "bearer" or not token:
            return self._nobody(certificate)
        found = self._tokens.verify_token(token)
        if found is not None:
            self._keep(header, TokenVerdict(found))
            return found
        return self._signed(header, token)

    def _nobody(self, certificate: Certificate | None) -> User:
        """Return the anonymous user. Raises Unauthorized, also for an invalid certificate."""
        if not self._anonymous or (certificate is not None and not certificate.good):
            raise Unauthorized
        return ANONYMOUS

    async def _signed(self, header: str, token: str) -> User:
        verdict = await self._ask(token, (AUDIENCE,))
        if verdict.user is None:
            raise Unauthorized
        self._keep(header, verdict)
        return verdict.user

    def _keep(self, header: str, verdict: TokenVerdict) -> None:
        if len(self._known) >= _KEEP:
            self._known.clear()
        self._known[header] = verdict

    async def review_token(self, token: str, audiences: Sequence[str]) -> TokenVerdict:
        """Verify a token for one of the audiences. The user of the verdict is None if the token is invalid.

        As in a header, the token ends at a blank, and without one the user is anonymous.
        """
        token = token.split(" ")[0]
        if not token and self._anonymous:
            return TokenVerdict(ANONYMOUS, tuple(audiences))
        found = self._tokens.verify_token(token)
        if found is None:
            return await self._ask(token, audiences)
        fitting = tuple(audience for audience in audiences if audience == AUDIENCE)
        return TokenVerdict(found, fitting) if fitting else TokenVerdict(None)

    async def _ask(self, token: str, audiences: Sequence[str]) -> TokenVerdict:
        issuer = read_issuer(token)
        for authenticator in self._issued:
            if issuer and authenticator.knows_issuer(issuer):
                verdict = await authenticator.verify_token(token, audiences)
                if verdict.user is not None:
                    return verdict
        return TokenVerdict(None)
