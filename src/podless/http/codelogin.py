"""The console's login at an OpenID Connect provider: the authorization code flow with PKCE, without a client secret.

The page keeps state, nonce and code verifier, and goes to the provider. podless turns the code into the ID token, so
that the page needs no request to another host, and the provider no CORS. Source: RFC 6749, RFC 7636, OpenID Connect
Core 1.0.
"""

from __future__ import annotations

import time
from typing import Any

from podless.auth.issuer import CodeRejected, Issuer, ProviderUnreachable
from podless.http.message import Request

PROVIDER = "/console/oidc"  # whether there is a provider
BEGIN = f"{PROVIDER}/begin"  # where the page goes
TOKEN = f"{PROVIDER}/token"  # what a code gives
_KNOWN = 600.0  # seconds for which a discovery document is used
_AT_ONCE = 8  # requests to the provider; users log in one by one
_SCOPES = ("profile", "email", "groups")
Told = tuple[int, dict[str, str]]


class CodeLogin:
    """Logins at one provider, None for a server without. Answers are a status and a JSON object."""

    def __init__(self, issuer: Issuer | None) -> None:
        self._issuer = issuer
        self._document: dict[str, Any] = {}
        self._until = 0.0
        self._asking = 0

    def describe(self) -> Told:
        """Answer whether there is a provider, without a request to it."""
        return 200, {"issuer": self._issuer.settings.issuer if self._issuer is not None else ""}

    async def begin_login(self) -> Told:
        """Answer where the page goes for a code: the endpoint, the client ID and the scope."""
        issuer = self._issuer
        if issuer is None:
            return 404, {"message": "this server has no OpenID Connect provider"}
        try:
            document = await self._discover(issuer)
        except ProviderUnreachable as error:
            return 502, {"message": f"{issuer.settings.issuer} cannot be reached: {error}"}
        offered = document.get("scopes_supported")
        wanted = dict.fromkeys((*_SCOPES[:2], *filter(None, [issuer.settings.groups_claim]), *_SCOPES[2:]))
        scopes = [one for one in wanted if one in offered] if isinstance(offered, list) else _SCOPES[:2]
        return 200, {
            "endpoint": str(document.get("authorization_endpoint")),
            "client": issuer.settings.client_id,
            "scope": " ".join(("openid", *scopes)),
        }

    async def redeem(self, request: Request, told: object) -> Told:
        """Answer the ID token for {"code": ..., "verifier": ...}. The redirect URI is the page's own address."""
        issuer = self._issuer
        code, verifier = (told.get("code"), told.get("verifier")) if isinstance(told, dict) else (None, None)
        if issuer is None:
            return 404, {"message": "this server has no OpenID Connect provider"}
        if not isinstance(code, str) or not isinstance(verifier, str):
            return 400, {"message": 'the body is {"code": ..., "verifier": ...}'}
        if self._asking >= _AT_ONCE:
            return 429, {"message": "too many logins at once, try again"}
        self._asking += 1
        try:
            endpoint = str((await self._discover(issuer)).get("token_endpoint"))
            redirect = f"{request.headers['origin']}/console/"
            return 200, {"token": await issuer.redeem_code(endpoint, code, verifier, redirect)}
        except CodeRejected as error:
            return 403, {"message": f"{issuer.settings.issuer} rejects the login: {error}"}
        except ProviderUnreachable as error:
            return 502, {"message": f"{issuer.settings.issuer} cannot be reached: {error}"}
        finally:
            self._asking -= 1

    async def _discover(self, issuer: Issuer) -> dict[str, Any]:
        """Return the discovery document. Raises ProviderUnreachable."""
        if time.monotonic() >= self._until:
            self._document = await issuer.discover()
            self._until = time.monotonic() + _KNOWN
        return self._document
