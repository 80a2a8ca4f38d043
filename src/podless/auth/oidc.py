"""OpenID Connect: signed tokens of an identity provider, whose keys are fetched over HTTPS when they are needed.

Keys are kept, and fetched again when a token names one that is not known, but not more often than every few seconds;
everybody who needs them at the same time waits for the same fetch. Source: "OpenID Connect Tokens" of the Kubernetes
documents and OpenID Connect Discovery.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from podless.auth.access import OIDC, BadAccess
from podless.auth.certificates import CREDENTIAL
from podless.auth.user import AUTHENTICATED, User
from podless.auth.verdict import TokenVerdict
from podless.codec import serializer
from podless.runtime import clock

if TYPE_CHECKING:
    import aiohttp
    import jwt

log = logging.getLogger("podless")

_NOBODY = TokenVerdict(None)
_AGAIN = 10.0  # seconds between two fetches
_TIME = 10.0  # seconds that a fetch may take
_LARGEST = 1 << 20  # bytes of a document
_PATH = "/.well-known/openid-configuration"


class ProviderUnreachable(Exception):
    """The provider's keys cannot be had; the text says why."""


class Provider:
    """An identity provider. audience: what this server calls itself, for those who ask whom a token is for.

    Raises BadAccess for a file of authorities that cannot be used.
    """

    def __init__(self, settings: OIDC, audience: str) -> None:
        self._settings = settings
        self._audience = audience
        try:
            self._context = ssl.create_default_context(cafile=settings.ca_file)
        except (ssl.SSLError, OSError) as error:
            raise BadAccess(f"{settings.ca_file}: not a certificate file ({error})") from None
        self._keys: list[jwt.PyJWK] = []
        self._fetched = -_AGAIN
        self._lock = asyncio.Lock()

    def mine(self, issuer: str) -> bool:
        """Whether a token that names this issuer can be one of the provider's."""
        return issuer == self._settings.issuer

    async def find(self, token: str, audiences: Sequence[str]) -> TokenVerdict:
        """Whose token it is; nobody's, where it is not good or the provider's keys cannot be had."""
        if self._audience not in audiences:
            return _NOBODY
        claims = await self._verified(token)
        user = self._user(claims) if claims is not None else None
        if claims is None or user is None:
            return _NOBODY
        until = float(claims["exp"])
        verdict = TokenVerdict(user, (self._audience,), lambda: clock.time() < until)
        return verdict if clock.time() < until else _NOBODY

    async def _verified(self, token: str) -> dict[str, Any] | None:
        import jwt

        settings = self._settings
        options: Any = {"require": ["exp", "iss", "aud"], "verify_iat": False}
        try:
            identity = jwt.get_unverified_header(token).get("kid")
            for key in await self._of(identity):
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
        except (jwt.PyJWTError, ValueError, TypeError, RecursionError):
            return None  # neither the token nor why it is wrong belongs in a log
        except ProviderUnreachable as error:
            log.warning("oidc: cannot fetch the keys of %s: %s", settings.issuer, error)
        return None

    async def _of(self, identity: str | None) -> list[jwt.PyJWK]:
        """The keys that a token may be signed with. Raises ProviderUnreachable."""
        found = self._fitting(identity)
        if found:
            return found
        async with self._lock:
            found = self._fitting(identity)  # somebody else may have fetched them meanwhile
            if not found and time.monotonic() - self._fetched >= _AGAIN:
                self._fetched = time.monotonic()
                self._keys = await self._fetch()
                found = self._fitting(identity)
        return found

    def _fitting(self, identity: str | None) -> list[jwt.PyJWK]:
        return [key for key in self._keys if identity is None or key.key_id == identity]

    async def _fetch(self) -> list[jwt.PyJWK]:
        import aiohttp
        import jwt

        try:
            connector = aiohttp.TCPConnector(ssl=self._context)
            timeout = aiohttp.ClientTimeout(total=_TIME)
            async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:
                document = await _read(session, self._settings.issuer.rstrip("/") + _PATH)
                if document.get("issuer") != self._settings.issuer:
                    raise ProviderUnreachable(f"it says that it is {document.get('issuer')!r}")
                keys = await _read(session, str(document.get("jwks_uri")))
            return [key for key in jwt.PyJWKSet.from_dict(keys).keys if key.public_key_use in (None, "sig")]
        except (aiohttp.ClientError, TimeoutError, OSError, jwt.PyJWTError, ValueError) as error:
            raise ProviderUnreachable(str(error) or type(error).__name__) from None

    def _user(self, claims: dict[str, Any]) -> User | None:
        """Who the claims say that it is; None where they lack something or have it in a wrong form."""
        settings = self._settings
        name = claims.get(settings.username_claim)
        if not isinstance(name, str) or not name:
            return None
        if settings.username_claim == "email" and claims.get("email_verified", True) is not True:
            return None
        if any(claims.get(claim) != value for claim, value in settings.required.items()):
            return None
        given = claims.get(settings.groups_claim) if settings.groups_claim else None
        groups = [given] if isinstance(given, str) else given or []
        if not isinstance(groups, list) or not all(isinstance(group, str) for group in groups):
            return None
        told = {CREDENTIAL: (f"JTI={claims['jti']}",)} if isinstance(claims.get("jti"), str) else {}
        named = [f"{settings.groups_prefix}{group}" for group in groups if group]
        more = () if AUTHENTICATED in named else (AUTHENTICATED,)
        return User(f"{settings.prefix}{name}", "", (*named, *more), told)


async def _read(session: aiohttp.ClientSession, url: str) -> dict[str, Any]:
    """A JSON object from the provider. Raises ProviderUnreachable, ValueError, aiohttp.ClientError."""
    if urlsplit(url).scheme != "https":
        raise ProviderUnreachable(f"{url} is not an https URL")
    async with session.get(url, allow_redirects=False) as answer:
        if answer.status != 200:
            raise ProviderUnreachable(f"{url} answers {answer.status}")
        body = bytearray()
        async for piece in answer.content.iter_chunked(1 << 16):
            body += piece
            if len(body) > _LARGEST:
                raise ProviderUnreachable(f"{url} answers more than {_LARGEST} bytes")
    document = serializer.decode_json(bytes(body))
    if not isinstance(document, dict):
        raise ProviderUnreachable(f"{url} answers no JSON object")
    return document
