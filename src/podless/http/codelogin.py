"""The console's login at an OpenID Connect provider: the authorization code flow with PKCE, without a client secret.

The page keeps state, nonce and code verifier, and goes to the provider. podless exchanges the code for a token, renews
it, and revokes the refresh token, so that the page needs no request to another host, and the provider no CORS. podless
keeps no token. Source: RFC 6749, RFC 7009, RFC 7636, OpenID Connect Core 1.0.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

from podless.auth.issuer import GrantedTokens, GrantRejected, OIDCIssuer, ProviderUnreachable
from podless.http.message import HTTPRequest

PROVIDER = "/console/oidc"  # GET: the issuer, "" without a provider
BEGIN = f"{PROVIDER}/begin"  # GET: the parameters of the authorization request
TOKEN = f"{PROVIDER}/token"  # POST: tokens for a code
RENEW = f"{PROVIDER}/renew"  # POST: tokens for a refresh token
REVOKE = f"{PROVIDER}/revoke"  # POST: revoke a refresh token
POSTS = frozenset((TOKEN, RENEW, REVOKE))
_LIFETIME = 600.0  # seconds for which a discovery document is cached
_FAILED = 5.0  # seconds for which an unreachable provider is not called again
_AT_ONCE = 8  # concurrent requests to the provider
_SCOPES = ("profile", "email", "groups")
_REFRESH = "offline_access"  # the scope for a refresh token
_NO_PROVIDER = 404, {"message": "this server has no OpenID Connect provider"}
StatusAndBody = tuple[int, dict[str, str]]


class CodeLogin:
    """Logins at one provider (None: no provider is configured). Each method returns a status code and a JSON object."""

    def __init__(self, issuer: OIDCIssuer | None) -> None:
        self._issuer = issuer
        self._document: dict[str, Any] = {}
        self._failure = ""
        self._until = 0.0
        self._asking = 0
        self._discovering = asyncio.Lock()

    def describe_issuer(self) -> StatusAndBody:
        """Return the issuer, without a request to it."""
        return 200, {"issuer": self._issuer.settings.issuer if self._issuer is not None else ""}

    async def begin_login(self) -> StatusAndBody:
        """Return the parameters of the authorization request: endpoint, client ID and scope."""

        async def describe_login(issuer: OIDCIssuer) -> dict[str, str]:
            document = await self._discover_endpoints(issuer)
            offered = document.get("scopes_supported")
            names = (*_SCOPES[:2], *filter(None, [issuer.settings.groups_claim]), *_SCOPES[2:], _REFRESH)
            scopes = (
                [name for name in dict.fromkeys(names) if name in offered] if isinstance(offered, list) else _SCOPES[:2]
            )
            return {
                "endpoint": str(document.get("authorization_endpoint")),
                "client": issuer.settings.client_id,
                "scope": " ".join(("openid", *scopes)),
            }

        return await self._ask_provider(describe_login)

    async def answer_post(self, request: HTTPRequest, body: object) -> StatusAndBody:
        """Answer a request to one of POSTS. body: as decoded."""
        return await {TOKEN: self._redeem_code, RENEW: self._renew_tokens, REVOKE: self._revoke_token}[request.path](
            request, body
        )

    async def _redeem_code(self, request: HTTPRequest, body: object) -> StatusAndBody:
        """Return the tokens for {"code": ..., "verifier": ...}. The redirect URI is the page's own address."""
        code, verifier = _read_text(body, "code"), _read_text(body, "verifier")
        if code is None or verifier is None:
            return 400, {"message": 'the body is {"code": ..., "verifier": ...}'}

        async def redeem_code(issuer: OIDCIssuer) -> dict[str, str]:
            redirect = f"{request.headers['origin']}/console/"
            endpoint = str((await self._discover_endpoints(issuer)).get("token_endpoint"))
            return _tell_granted(await issuer.redeem_code(endpoint, code, verifier, redirect))

        return await self._ask_provider(redeem_code)

    async def _renew_tokens(self, request: HTTPRequest, body: object) -> StatusAndBody:
        """Return new tokens for {"refresh": ...}."""
        refresh = _read_text(body, "refresh")
        if refresh is None:
            return 400, {"message": 'the body is {"refresh": ...}'}

        async def renew_token(issuer: OIDCIssuer) -> dict[str, str]:
            endpoint = str((await self._discover_endpoints(issuer)).get("token_endpoint"))
            return _tell_granted(await issuer.renew_token(endpoint, refresh))

        return await self._ask_provider(renew_token)

    async def _revoke_token(self, request: HTTPRequest, body: object) -> StatusAndBody:
        """Revoke the refresh token of {"refresh": ...}, if the provider supports that."""
        refresh = _read_text(body, "refresh")
        if refresh is None:
            return 400, {"message": 'the body is {"refresh": ...}'}

        async def revoke_token(issuer: OIDCIssuer) -> dict[str, str]:
            endpoint = (await self._discover_endpoints(issuer)).get("revocation_endpoint")
            if isinstance(endpoint, str):
                await issuer.revoke_token(endpoint, refresh)
            return {}

        return await self._ask_provider(revoke_token)

    async def _ask_provider(self, ask: Callable[[OIDCIssuer], Awaitable[dict[str, str]]]) -> StatusAndBody:
        """Return the provider's result, or why the request to it failed."""
        issuer = self._issuer
        if issuer is None:
            return _NO_PROVIDER
        if self._asking >= _AT_ONCE:
            return 429, {"message": "too many logins at once, try again"}
        self._asking += 1
        try:
            return 200, await ask(issuer)
        except GrantRejected as error:
            return 403, {"message": f"{issuer.settings.issuer} rejects the login: {error}"}
        except ProviderUnreachable as error:
            return 502, {"message": f"{issuer.settings.issuer} cannot be reached: {error}"}
        finally:
            self._asking -= 1

    async def _discover_endpoints(self, issuer: OIDCIssuer) -> dict[str, Any]:
        """Return the cached discovery document. Only one request at a time reads it. Raises ProviderUnreachable."""
        async with self._discovering:
            if time.monotonic() >= self._until:
                self._failure, lifetime = "", _LIFETIME
                try:
                    self._document = await issuer.read_discovery()
                except ProviderUnreachable as error:
                    self._failure, lifetime = str(error), _FAILED
                self._until = time.monotonic() + lifetime
        if self._failure:
            raise ProviderUnreachable(self._failure)
        return self._document


def _read_text(body: object, name: str) -> str | None:
    text = body.get(name) if isinstance(body, dict) else None
    return text if isinstance(text, str) else None


def _tell_granted(granted: GrantedTokens) -> dict[str, str]:
    return {"token": granted.token, **({"refresh": granted.refresh} if granted.refresh else {})}
