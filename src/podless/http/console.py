"""The filter that serves the browser console below /console, before authentication.

The page's files need no login; the page then calls the API with the credentials of its user. Only pages of this server
get answers: a request from another site's page is rejected.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

import orjson

from podless.console.assets import Asset, list_assets, pack_bytes
from podless.console.links import Links
from podless.http import codelogin
from podless.http.codelogin import CodeLogin
from podless.http.message import JSON, TEXT, Answer, Handler, HTTPRequest, Pending, Response

CONSOLE_PATH = "/console"
LINK = f"{CONSOLE_PATH}/link"
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

    def filter(self, handler: Handler) -> Handler:
        """Answer requests below /console, and reject cross-site requests that have a client certificate."""

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
        if request.path == LINK or request.path in codelogin.POSTS:
            return (
                self._exchange_code(request) if request.method == "POST" else _make_refusal(405, "", ("Allow", "POST"))
            )
        if request.method not in ("GET", "HEAD"):
            return _make_refusal(405, "", ("Allow", "GET, HEAD"))
        if request.path == CONSOLE_PATH:
            return _make_refusal(308, "", ("Location", f"{CONSOLE_PATH}/"))
        if request.path == codelogin.PROVIDER:
            return _make_answer(*self._login.describe_issuer())
        if request.path == codelogin.BEGIN:
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
