"""OpenID Connect: signed tokens of an identity provider. podless fetches its keys over HTTPS at first use.

Keys are cached, and fetched again if a token names an unknown one, at most every 10 seconds; concurrent requests share
a fetch. Source: "OpenID Connect Tokens" of the Kubernetes documentation, and OpenID Connect Discovery.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from podless.auth.access import OIDC
from podless.auth.certificates import CREDENTIAL
from podless.auth.issuer import OIDCIssuer, ProviderUnreachable
from podless.auth.tokens import TokenVerdict
from podless.auth.user import AUTHENTICATED, User
from podless.runtime import clock

if TYPE_CHECKING:
    import jwt

log = logging.getLogger("podless")

_NO_USER = TokenVerdict(None)
_MIN_INTERVAL = 10.0  # minimum seconds between two fetches, and between two log lines with the same text


class _TokenRejected(Exception):
    """The provider has signed the token, and this server rejects it. The text says why."""


class OIDCProvider:
    """An identity provider. audience: of this server.

    Raises BadAccess for an invalid CA file.
    """

    def __init__(self, settings: OIDC, audience: str) -> None:
        self._settings = settings
        self._audience = audience
        self._issuer = OIDCIssuer(settings)
        self._keys: list[jwt.PyJWK] = []
        self._fetched = -_MIN_INTERVAL
        self._lock = asyncio.Lock()
        self._logged: dict[str, float] = {}  # when each reason was logged; the settings bound their number

    def knows_issuer(self, issuer: str) -> bool:
        """Return whether tokens of this issuer can be the provider's."""
        return issuer == self._settings.issuer

    async def verify_token(self, token: str, audiences: Sequence[str]) -> TokenVerdict:
        """Verify a token. The user of the verdict is None if it is invalid or the provider's keys are not available."""
        if self._audience not in audiences:
            return _NO_USER
        try:
            claims = await self._verify_token(token)
            if claims is None:
                return _NO_USER
            user = self._make_user(claims)
        except _TokenRejected as error:
            self._log_rejection(str(error))
            return _NO_USER
        until = float(claims["exp"])
        verdict = TokenVerdict(user, (self._audience,), lambda: clock.time() < until)
        return verdict if clock.time() < until else _NO_USER

    def _log_rejection(self, reason: str) -> None:
        """Log why a token was rejected, without the token, and not for each request of a client that tries again."""
        now = time.monotonic()
        if now - self._logged.get(reason, -_MIN_INTERVAL) >= _MIN_INTERVAL:
            self._logged[reason] = now
            log.warning("oidc: rejected a token of %s: %s", self._settings.issuer, reason)

    async def _verify_token(self, token: str) -> dict[str, Any] | None:
        """Return the claims of a token, None if the provider has not signed it. Raises _TokenRejected."""
        import jwt

        settings = self._settings
        options: Any = {"require": ["exp", "iss", "aud"], "verify_iat": False}
        try:
            for key in await self._find_keys(jwt.get_unverified_header(token).get("kid")):
                try:
                    return dict(
                        jwt.decode(
                            token,
                            key.key,
                            list(settings.algorithms),
                            options,
                            audience=settings.client_id,
                            issuer=settings.issuer,
                        )
                    )
                except jwt.InvalidSignatureError:
                    continue
        except jwt.InvalidAudienceError:
            raise _TokenRejected(f"the claim aud is not the client ID {settings.client_id}") from None
        except jwt.MissingRequiredClaimError as error:
            raise _TokenRejected(f"the claim {error.claim} is missing") from None
        except jwt.ExpiredSignatureError:
            raise _TokenRejected("it has expired") from None
        except jwt.ImmatureSignatureError:
            raise _TokenRejected("it is not valid yet (nbf)") from None
        except (jwt.PyJWTError, ValueError, TypeError, RecursionError):
            return None  # it may be anybody's, so it is not logged
        except ProviderUnreachable as error:
            log.warning("oidc: cannot fetch the keys of %s: %s", settings.issuer, error)
        return None

    async def _find_keys(self, identity: str | None) -> list[jwt.PyJWK]:
        """Return the keys that can have signed a token. Raises ProviderUnreachable."""
        keys = self._matching_keys(identity)
        if keys:
            return keys
        async with self._lock:
            keys = self._matching_keys(identity)  # again, because another request can have fetched them meanwhile
            if not keys and time.monotonic() - self._fetched >= _MIN_INTERVAL:
                self._fetched = time.monotonic()
                self._keys = await self._fetch_keys()
                keys = self._matching_keys(identity)
        return keys

    def _matching_keys(self, identity: str | None) -> list[jwt.PyJWK]:
        return [key for key in self._keys if identity is None or key.key_id == identity]

    async def _fetch_keys(self) -> list[jwt.PyJWK]:
        import jwt

        keys = await self._issuer.read_keys()
        try:
            return [key for key in jwt.PyJWKSet.from_dict(keys).keys if key.public_key_use in (None, "sig")]
        except (jwt.PyJWTError, ValueError) as error:
            raise ProviderUnreachable(str(error) or type(error).__name__) from None

    def _make_user(self, claims: dict[str, Any]) -> User:
        """Return the user that the claims name. Raises _TokenRejected for a missing or malformed claim."""
        settings = self._settings
        name = claims.get(settings.username_claim)
        if not isinstance(name, str) or not name:
            raise _TokenRejected(f"it has no claim {settings.username_claim} with a user name")
        if settings.username_claim == "email" and claims.get("email_verified", True) is not True:
            raise _TokenRejected("the claim email_verified is not true")
        for claim, value in settings.required.items():
            if claims.get(claim) != value:
                raise _TokenRejected(f"the claim {claim} is not {value}")
        groups_claimed = claims.get(settings.groups_claim) if settings.groups_claim else None
        groups = [groups_claimed] if isinstance(groups_claimed, str) else groups_claimed or []
        if not isinstance(groups, list) or not all(isinstance(group, str) for group in groups):
            raise _TokenRejected(f"the claim {settings.groups_claim} is not a list of strings")
        extra = {CREDENTIAL: (f"JTI={claims['jti']}",)} if isinstance(claims.get("jti"), str) else {}
        named = [f"{settings.groups_prefix}{group}" for group in groups if group]
        added_groups = () if AUTHENTICATED in named else (AUTHENTICATED,)
        return User(f"{settings.prefix}{name}", "", (*named, *added_groups), extra)
