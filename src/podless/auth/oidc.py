"""OpenID Connect: HTTPS requests to an identity provider, and its signed tokens.

podless fetches the provider's keys at first use. They are cached, and fetched again if a token names an unknown one, at
most every 10 seconds; concurrent requests share a fetch. Source: "OpenID Connect Tokens" of the Kubernetes
documentation; OpenID Connect Discovery 1.0; RFC 6749, sections 4.1.3 and 6; RFC 7009; RFC 7636.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from podless.auth.access import OIDC, BadAccess
from podless.auth.certificates import CREDENTIAL
from podless.auth.tokens import TokenVerdict
from podless.auth.user import AUTHENTICATED, User
from podless.codec import serializer
from podless.runtime import clock
from podless.runtime.dataclass import dataclass
from podless.runtime.files import describe_fault

if TYPE_CHECKING:
    import aiohttp
    import jwt

log = logging.getLogger("podless")

_TIME = 10.0  # timeout of a request, in seconds
_LARGEST = 1 << 20  # bytes of a document
_LONGEST = 200  # characters of an error text that are shown
_REFRESH_TOKEN = 1 << 12  # characters; longer refresh tokens are dropped
_PATH = "/.well-known/openid-configuration"
_NO_USER = TokenVerdict(None)
_MIN_INTERVAL = 10.0  # minimum seconds between two fetches, and between two log lines with the same text


class ProviderUnreachable(Exception):
    """A request to the provider failed; the text says why."""


class GrantRejected(Exception):
    """The provider rejects an authorization code or a refresh token. The text is the provider's."""


@dataclass(frozen=True)
class GrantedTokens:
    """An ID token, and the refresh token for the next one ("" if the provider returns none)."""

    token: str
    refresh: str


class OIDCIssuer:
    """Sends requests to one provider. Raises BadAccess for an unusable file of CAs."""

    def __init__(self, settings: OIDC) -> None:
        self.settings = settings
        try:
            self._context = ssl.create_default_context(cafile=settings.ca_file)
        except ssl.SSLError:
            raise BadAccess(f"{settings.ca_file}: not a PEM file with certificates") from None
        except OSError as error:
            raise BadAccess(describe_fault(error, settings.ca_file)) from None

    async def read_discovery(self) -> dict[str, Any]:
        """Return the discovery document. Raises ProviderUnreachable."""
        issuer = self.settings.issuer
        _, document = await self._send_request(issuer.rstrip("/") + _PATH)
        if document.get("issuer") != issuer:
            raise ProviderUnreachable(f"it says that it is {document.get('issuer')!r}")
        return document

    async def read_keys(self) -> dict[str, Any]:
        """Return the key set. Raises ProviderUnreachable."""
        document = await self.read_discovery()
        return (await self._send_request(str(document.get("jwks_uri"))))[1]

    async def redeem_code(self, endpoint: str, code: str, verifier: str, redirect: str) -> GrantedTokens:
        """Return the tokens for an authorization code. Raises GrantRejected, ProviderUnreachable."""
        form = {"grant_type": "authorization_code", "code": code, "code_verifier": verifier, "redirect_uri": redirect}
        return await self._ask_for_tokens(endpoint, form)

    async def renew_token(self, endpoint: str, refresh: str) -> GrantedTokens:
        """Return a new ID token for a refresh token. Raises GrantRejected, ProviderUnreachable."""
        return await self._ask_for_tokens(endpoint, {"grant_type": "refresh_token", "refresh_token": refresh})

    async def revoke_token(self, endpoint: str, refresh: str) -> None:
        """Revoke a refresh token. Raises ProviderUnreachable."""
        await self._send_request(endpoint, {"client_id": self.settings.client_id, "token": refresh}, with_body=False)

    async def _ask_for_tokens(self, endpoint: str, form: Mapping[str, str]) -> GrantedTokens:
        """Request tokens with a form. Raises GrantRejected, ProviderUnreachable."""
        status, answer = await self._send_request(endpoint, {"client_id": self.settings.client_id, **form})
        if status != 200:
            error_texts = [answer.get(name) for name in ("error", "error_description")]
            raise GrantRejected(": ".join(text for text in error_texts if isinstance(text, str))[:_LONGEST])
        token, refresh = answer.get("id_token"), answer.get("refresh_token")
        if not isinstance(token, str) or not token.isascii():
            raise ProviderUnreachable(f"{endpoint} answers no ID token")
        is_valid = isinstance(refresh, str) and len(refresh) <= _REFRESH_TOKEN and refresh.isascii()
        return GrantedTokens(token, str(refresh) if is_valid else "")

    async def _send_request(
        self, url: str, form: Mapping[str, str] | None = None, *, with_body: bool = True
    ) -> tuple[int, dict[str, Any]]:
        """Get a JSON object, or post a form for one. Raises ProviderUnreachable.

        Only responses to a form may have a status other than 200: 400 or 401 with a JSON object. with_body: read the
        response.
        """
        import aiohttp

        if urlsplit(url).scheme != "https":
            raise ProviderUnreachable(f"{url} is not an https URL")
        method, accepted = ("GET", (200,)) if form is None else ("POST", (200, 400, 401))
        connector = aiohttp.TCPConnector(ssl=self._context)
        timeout = aiohttp.ClientTimeout(total=_TIME)
        try:
            async with (
                aiohttp.ClientSession(connector=connector, timeout=timeout) as session,
                session.request(
                    method, url, data=form, headers={"Accept": "application/json"}, allow_redirects=False
                ) as answer,
            ):
                if answer.status not in accepted:
                    raise ProviderUnreachable(f"{url} answers {answer.status}")
                return answer.status, await _read_object(answer, url) if with_body else {}
        except aiohttp.ClientConnectorCertificateError as error:
            reason = getattr(error.certificate_error, "verify_message", "") or error.certificate_error
            raise ProviderUnreachable(
                f"its certificate is not trusted ({reason}); --oidc-ca-file sets the CA"
            ) from None
        except aiohttp.ClientConnectorError as error:
            reason = (error.os_error.strerror or str(error.os_error)).lower()
            raise ProviderUnreachable(f"cannot connect to {error.host}:{error.port}: {reason}") from None
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            raise ProviderUnreachable(str(error) or type(error).__name__) from None


async def _read_object(answer: aiohttp.ClientResponse, url: str) -> dict[str, Any]:
    """Read a JSON object from a response. Raises ProviderUnreachable, ValueError, aiohttp.ClientError."""
    body = bytearray()
    async for piece in answer.content.iter_chunked(1 << 16):
        body += piece
        if len(body) > _LARGEST:
            raise ProviderUnreachable(f"{url} answers more than {_LARGEST} bytes")
    document = serializer.decode_json(bytes(body))
    if not isinstance(document, dict):
        raise ProviderUnreachable(f"{url} answers no JSON object")
    return document


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
