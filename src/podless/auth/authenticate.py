"""Authentication: client certificates, then bearer tokens, then anonymous.

Results are cached while they are valid, so a known client costs one dictionary look-up.
"""

from __future__ import annotations

from collections.abc import Coroutine, Mapping, Sequence
from typing import Any

from podless.auth.access import OIDC
from podless.auth.accounts import ServiceAccountTokens
from podless.auth.certificates import Certificate
from podless.auth.tokens import StaticTokens, TokenAuthenticator, TokenVerdict, read_issuer
from podless.auth.user import ANONYMOUS, User
from podless.meta.errors import Unauthorized
from podless.runtime.dataclass import dataclass
from podless.runtime.option import section

AUDIENCE = "https://kubernetes.default.svc"
INVALID = "invalid bearer token"
_KEEP = 1024


@dataclass(frozen=True, kw_only=True)
class AuthenticatorOptions:
    """The optional authenticators: a section of options for each."""

    oidc: OIDC | None = section(
        OIDC, "OpenID Connect", "tokens of an identity provider, as for kube-apiserver", any_of=("issuer", "client_id")
    )

    def make_authenticators(self, audience: str) -> list[TokenAuthenticator]:
        """Return the configured authenticators, in order. audience: of this server."""
        results: list[TokenAuthenticator] = []
        if self.oidc is not None:
            from podless.auth.oidc import OIDCProvider  # imported late: few servers have a provider

            results.append(OIDCProvider(self.oidc, audience))
        return results


class Authenticator:
    """Authenticates requests. anonymous: accept requests without credentials.

    accounts: issues and verifies service account tokens, None to accept none. token_authenticators: further ones.
    """

    def __init__(
        self,
        tokens: StaticTokens,
        accounts: ServiceAccountTokens | None = None,
        token_authenticators: Sequence[TokenAuthenticator] = (),
        *,
        anonymous: bool = True,
    ) -> None:
        self.accounts = accounts
        self._tokens = tokens
        own = () if accounts is None else (accounts,)
        self._token_authenticators: tuple[TokenAuthenticator, ...] = (*own, *token_authenticators)
        self._anonymous = anonymous
        self._verdicts: dict[str, TokenVerdict] = {}  # key: the Authorization header

    def authenticate(
        self, headers: Mapping[str, str], certificate: Certificate | None
    ) -> User | Coroutine[Any, Any, User]:
        """Return the user, or a coroutine that returns it. Both raise Unauthorized."""
        if certificate is not None and (user := certificate.user) is not None:
            return user
        header = headers.get("authorization", "")
        if not header:
            return self._anonymous_user(certificate)
        cached = self._verdicts.get(header)
        if cached is not None and cached.user is not None and (cached.is_valid is None or cached.is_valid()):
            return cached.user
        scheme, _, credentials = header.partition(" ")
        token = credentials.split(" ")[0]
        if scheme.lower() != "bearer" or not token:
            return self._anonymous_user(certificate)
        result = self._tokens.find_user(token)
        if result is not None:
            self._cache_verdict(header, TokenVerdict(result))
            return result
        return self._verify_token(header, token)

    def _anonymous_user(self, certificate: Certificate | None) -> User:
        """Return the anonymous user. Raises Unauthorized, also for an invalid certificate."""
        if not self._anonymous or (certificate is not None and not certificate.is_current):
            raise Unauthorized
        return ANONYMOUS

    async def _verify_token(self, header: str, token: str) -> User:
        verdict = await self._request_verdict(token, (AUDIENCE,))
        if verdict.user is None:
            raise Unauthorized
        self._cache_verdict(header, verdict)
        return verdict.user

    def _cache_verdict(self, header: str, verdict: TokenVerdict) -> None:
        if len(self._verdicts) >= _KEEP:
            self._verdicts.clear()
        self._verdicts[header] = verdict

    async def review_token(self, token: str, audiences: Sequence[str]) -> TokenVerdict:
        """Verify a token for one of the audiences. The user of the verdict is None if the token is invalid.

        As in a header, the token ends at a blank, and without one the user is anonymous.
        """
        token = token.split(" ")[0]
        if not token and self._anonymous:
            return TokenVerdict(ANONYMOUS, tuple(audiences))
        verdict = self._tokens.find_user(token)
        if verdict is None:
            return await self._request_verdict(token, audiences)
        fitting = tuple(audience for audience in audiences if audience == AUDIENCE)
        return TokenVerdict(verdict, fitting) if fitting else TokenVerdict(None)

    async def _request_verdict(self, token: str, audiences: Sequence[str]) -> TokenVerdict:
        issuer = read_issuer(token)
        for authenticator in self._token_authenticators:
            if authenticator.knows_issuer(issuer):
                verdict = await authenticator.verify_token(token, audiences)
                if verdict.user is not None:
                    return verdict
        return TokenVerdict(None)
