"""The filter that serves the browser console below /console, before authentication.

The page's files need no login; the page then calls the API with the credentials of its user. Only pages of this server
get answers: a request from another site's page is rejected.

Login at an OpenID Connect provider is the authorization code flow with PKCE, without a client secret. The page keeps
state, nonce and code verifier, and goes to the provider. podless exchanges the code for a token, renews it, and revokes
the refresh token, so that the page needs no request to another host, and the provider no CORS. podless keeps no token.
Source: RFC 6749, RFC 7009, RFC 7636, OpenID Connect Core 1.0.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from podless.auth.oidc import GrantRejected, OIDCIssuer, ProviderUnreachable
from podless.console import Asset, Links, list_assets, pack_bytes
from podless.http.message import JSON, TEXT, Answer, Handler, HTTPRequest, Pending, Response

StatusAndBody = tuple[int, dict[str, str]]

CONSOLE_PATH = "/console"
LINK = f"{CONSOLE_PATH}/link"
PROVIDER = f"{CONSOLE_PATH}/oidc"  # GET: the issuer, "" without a provider
BEGIN = f"{PROVIDER}/begin"  # GET: the parameters of the authorization request
TOKEN = f"{PROVIDER}/token"  # POST: tokens for a code
RENEW = f"{PROVIDER}/renew"  # POST: tokens for a refresh token
REVOKE = f"{PROVIDER}/revoke"  # POST: revoke a refresh token
POSTS = frozenset((TOKEN, RENEW, REVOKE))
_DISCOVERY_TIME = 600.0  # seconds for which a discovery document is cached
_FAILURE_TIME = 5.0  # seconds for which an unreachable provider is not called again
_AT_ONCE = 8  # concurrent requests to the provider
_SCOPES = ("profile", "email", "groups")
_REFRESH = "offline_access"  # the scope for a refresh token
_NO_PROVIDER = 404, {"message": "this server has no OpenID Connect provider"}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
)
_SAFE = [
    ("Content-Security-Policy", POLICY),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Referrer-Policy", "no-referrer"),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
]
_FOREVER = ("Cache-Control", "public, max-age=31536000, immutable")
_ANEW = ("Cache-Control", "no-cache")
_NO_STORE = ("Cache-Control", "no-store")
_LONGEST = 1 << 13  # maximum bytes of the body of a login request
_NOWHERE = "page not found\n"
_FOREIGN = "requests of other sites are rejected\n"


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
        return await self._ask_provider(self._describe_login)

    async def answer_post(self, request: HTTPRequest, body: object) -> StatusAndBody:
        """Answer a request to one of POSTS. body: as decoded.

        TOKEN: return the tokens for {"code": ..., "verifier": ...}. RENEW: return new tokens for {"refresh": ...}.
        REVOKE: revoke this refresh token, if the provider supports that. The redirect URI is the page's own address.
        """
        names = ("code", "verifier") if request.path == TOKEN else ("refresh",)
        texts = [text for name in names if isinstance(body, dict) and isinstance(text := body.get(name), str)]
        if len(texts) < len(names):
            shown = ", ".join(f'"{name}": ...' for name in names)
            return 400, {"message": f"the body is {{{shown}}}"}
        return await self._ask_provider(partial(self._exchange_texts, request, texts))

    async def _describe_login(self, issuer: OIDCIssuer) -> dict[str, str]:
        document = await self._discover_endpoints(issuer)
        offered = document.get("scopes_supported")
        names = (*_SCOPES[:2], *filter(None, [issuer.settings.groups_claim]), *_SCOPES[2:], _REFRESH)
        known = [name for name in dict.fromkeys(names) if name in offered] if isinstance(offered, list) else _SCOPES[:2]
        return {
            "endpoint": str(document.get("authorization_endpoint")),
            "client": issuer.settings.client_id,
            "scope": " ".join(("openid", *known)),
        }

    async def _exchange_texts(self, request: HTTPRequest, texts: list[str], issuer: OIDCIssuer) -> dict[str, str]:
        document = await self._discover_endpoints(issuer)
        if request.path == REVOKE:
            endpoint = document.get("revocation_endpoint")
            if isinstance(endpoint, str):
                await issuer.revoke_token(endpoint, texts[0])
            return {}
        endpoint = str(document.get("token_endpoint"))
        if request.path == TOKEN:
            code, verifier = texts
            redirect = f"{request.headers['origin']}{CONSOLE_PATH}/"
            granted = await issuer.redeem_code(endpoint, code, verifier, redirect)
        else:
            granted = await issuer.renew_token(endpoint, texts[0])
        return {"token": granted.token, **({"refresh": granted.refresh} if granted.refresh else {})}

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
                self._failure, lifetime = "", _DISCOVERY_TIME
                try:
                    self._document = await issuer.read_discovery()
                except ProviderUnreachable as error:
                    self._failure, lifetime = str(error), _FAILURE_TIME
                self._until = time.monotonic() + lifetime
        if self._failure:
            raise ProviderUnreachable(self._failure)
        return self._document


class Console:
    """The console of one server. token: returns the administrator's token, for a one-time link.

    login: exchanges codes and refresh tokens at an OpenID Connect provider.
    """

    def __init__(self, token: Callable[[], str], login: CodeLogin) -> None:
        self.links = Links()
        self._token = token
        self._login = login
        self._assets = list_assets()
        self._packed: dict[Path, bytes] = {}

    def wrap_handler(self, handler: Handler) -> Handler:
        """Return a handler for requests below /console. It rejects cross-site requests with a client certificate."""

        def handle(request: HTTPRequest) -> Answer | Pending:
            path = request.path
            if path.startswith(CONSOLE_PATH) and (path == CONSOLE_PATH or path[len(CONSOLE_PATH)] == "/"):
                return self._answer_request(request)
            if request.certificate is not None and is_foreign(request.headers):
                return _make_refusal(403, _FOREIGN)  # a browser sends the certificate with requests of any page
            return handler(request)

        return handle

    def _answer_request(self, request: HTTPRequest) -> Answer | Pending:
        if is_foreign(request.headers):
            return _make_refusal(403, "")
        if request.path == LINK or request.path in POSTS:
            return (
                self._exchange_code(request) if request.method == "POST" else _make_refusal(405, "", ("Allow", "POST"))
            )
        if request.method not in ("GET", "HEAD"):
            return _make_refusal(405, "", ("Allow", "GET, HEAD"))
        if request.path == CONSOLE_PATH:
            return _make_refusal(308, "", ("Location", f"{CONSOLE_PATH}/"))
        if request.path == PROVIDER:
            return _make_answer(*self._login.describe_issuer())
        if request.path == BEGIN:
            return self._begin_login()
        asset = self._assets.get(request.path[len(CONSOLE_PATH) + 1 :])
        return self._send_asset(request, asset) if asset is not None else _make_refusal(404, _NOWHERE)

    async def _send_asset(self, request: HTTPRequest, asset: Asset) -> Answer:
        headers = [*_SAFE, _FOREVER if asset.hashed else _ANEW, ("ETag", asset.tag), ("Vary", "Accept-Encoding")]
        if request.headers.get("if-none-match", "") == asset.tag:
            return Response(304, (), b"", headers)
        if "gzip" not in request.headers.get("accept-encoding", "") or not asset.pays:
            return Response(200, [asset.body], asset.media, headers)
        packed = self._packed.get(asset.file)
        if packed is None:
            packed = self._packed[asset.file] = await asyncio.to_thread(pack_bytes, asset.body)  # takes up to 50 ms
        return Response(200, [packed], asset.media, [*headers, ("Content-Encoding", "gzip")])

    async def _begin_login(self) -> Answer:
        return _make_answer(*await self._login.begin_login())

    async def _exchange_code(self, request: HTTPRequest) -> Answer:
        """Answer the token for the code of a one-time link, or pass the body to the login at a provider.

        Raises BadRequest for an incomplete body.
        """
        if "origin" not in request.headers:
            return _make_refusal(403, "")
        if not 0 <= request.length <= _LONGEST:
            return _make_refusal(413, "the body is a small JSON object, with its length in Content-Length\n")
        try:
            body = orjson.loads(await request.read_body())
        except orjson.JSONDecodeError:
            return _make_refusal(400, "the body is not JSON\n")
        if request.path != LINK:
            return _make_answer(*await self._login.answer_post(request, body))
        code = body.get("code") if isinstance(body, dict) else None
        if not isinstance(code, str) or not self.links.use_code(code):
            return _make_refusal(403, "the link is unknown, used or expired\n")
        return _make_answer(200, {"token": self._token()})


def is_foreign(headers: Mapping[str, str]) -> bool:
    """Return whether a page of another origin sends the request, by the headers that browsers set."""
    origin = headers.get("origin")
    if origin is not None and origin.partition("://")[2] != headers.get("host", ""):
        return True
    site = headers.get("sec-fetch-site", "none")
    return site not in ("none", "same-origin") and headers.get("sec-fetch-mode") != "navigate"


def _make_refusal(code: int, text: str, *headers: tuple[str, str]) -> Response:
    return Response(code, [text.encode()] if text else (), TEXT, [*_SAFE, _NO_STORE, *headers])


def _make_answer(code: int, fields: Mapping[str, str]) -> Response:
    return Response(code, [orjson.dumps(fields)], JSON, [*_SAFE, _NO_STORE])
