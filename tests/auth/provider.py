"""An OpenID Connect provider for tests: discovery, keys, signed tokens, and a login page for codes with PKCE."""

from __future__ import annotations

import base64
import hashlib
import html
import http.server
import json
import secrets
import ssl
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

from podless.http.tls import Certificates

Answer = tuple[int, dict[str, str], bytes]


class Provider:
    """Serves discovery and keys, signs, and logs users in.

    fetched: how often the keys were asked for. claims: further claims of the tokens of a login. users: the names on the
    login page. asked: the queries of the authorization endpoint. renewed: how many tokens refresh tokens gave. revoked:
    the refresh tokens that were revoked.
    """

    def __init__(self, folder: Path, users: tuple[str, ...] = ()) -> None:
        self.keys: dict[str, rsa.RSAPrivateKey] = {}
        self.fetched = 0
        self.documents: dict[str, Any] = {}
        self.users = users
        self.claims: dict[str, Any] = {}
        self.asked: list[dict[str, str]] = []
        self.redirects: tuple[str, ...] = ()
        self.renewed = 0
        self.revoked: list[str] = []
        self._codes: dict[str, dict[str, str]] = {}
        self._refreshes: dict[str, dict[str, str]] = {}
        certificates = Certificates(folder)
        certificates.create_missing([])
        self.authority = certificates.authority
        provider = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                place = urlsplit(self.path)
                query = dict(parse_qsl(place.query))
                self.send(*provider.get(place.path, query, self.headers.get("Cookie", "")))

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                form = dict(parse_qsl(body))
                answers = {"/token": provider.redeem, "/revoke": provider.revoke}
                self.send(*(answers[self.path](form) if self.path in answers else _json(404, None)))

            def send(self, status: int, headers: dict[str, str], body: bytes) -> None:
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args: Any) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "server.crt", folder / "server.key")
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.issuer = f"https://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def get(self, path: str, query: dict[str, str], cookie: str) -> Answer:
        if path == "/authorize":
            return self._authorize(query, cookie.partition("user=")[2])
        if path == "/login":
            return self._let_in(query, {"Set-Cookie": f"user={query['user']}; Secure; HttpOnly"})
        found = self.answer(path)
        return _json(404 if found is None else 200, found)

    def answer(self, path: str) -> Any:
        if path == "/.well-known/openid-configuration":
            places = {"authorization_endpoint": "authorize", "token_endpoint": "token", "jwks_uri": "keys"}
            places["revocation_endpoint"] = "revoke"
            found = {name: f"{self.issuer}/{place}" for name, place in places.items()}
            return {"issuer": self.issuer, "scopes_supported": ["openid", "email", "offline_access"], **found}
        if path == "/keys":
            self.fetched += 1
            return {"keys": [self.shown(name) for name in self.keys]}
        return None

    def _authorize(self, query: dict[str, str], known: str) -> Answer:
        """The login page, or the way back at once for a user who logged in before."""
        self.asked.append(query)
        if query["redirect_uri"] not in self.redirects or query["code_challenge_method"] != "S256":
            return _json(400, {"error": "invalid_request"})
        if known and query.get("prompt") != "login":
            return self._let_in({**query, "user": known}, {})
        links = [
            f'<p><a id="{html.escape(user)}" href="/login?{html.escape(urlencode({**query, "user": user}))}">{user}</a>'
            for user in (*self.users, "nobody")
        ]
        return 200, {"Content-Type": "text/html"}, f"<h1>Who are you?</h1>{''.join(links)}".encode()

    def _let_in(self, query: dict[str, str], headers: dict[str, str]) -> Answer:
        back = {"state": query["state"]}
        if query["user"] in self.users:
            back["code"] = secrets.token_urlsafe()
            self._codes[back["code"]] = query
        else:
            back["error"], back["error_description"], headers = "access_denied", "unknown user", {}
        return 302, {"Location": f"{query['redirect_uri']}?{urlencode(back)}", **headers}, b""

    def redeem(self, form: dict[str, str]) -> Answer:
        """The tokens for a code or a refresh token, once; for a code, only with its verifier."""
        if form.get("grant_type") == "refresh_token":
            sent = self._refreshes.pop(form.get("refresh_token", ""), None)
            self.renewed += sent is not None
            return self._grant(sent) if sent is not None else _json(400, {"error": "invalid_grant"})
        sent = self._codes.pop(form.get("code", ""), {})
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        if not sent or challenge != sent["code_challenge"] or form.get("redirect_uri") != sent["redirect_uri"]:
            return _json(400, {"error": "invalid_grant", "error_description": "the code is not good"})
        return self._grant(sent)

    def revoke(self, form: dict[str, str]) -> Answer:
        """Forget a refresh token. The answer has no body."""
        self.revoked.append(form["token"])
        self._refreshes.pop(form["token"], None)
        return 200, {"Content-Length": "0"}, b""

    def _grant(self, sent: dict[str, str]) -> Answer:
        claims = {
            "aud": sent["client_id"],
            "email": f"{sent['user']}@example.com",
            "nonce": sent["nonce"],
            **self.claims,
        }
        found = {"token_type": "Bearer", "access_token": "other", "id_token": self.sign(**claims)}
        if "offline_access" in sent["scope"].split():
            found["refresh_token"] = secrets.token_urlsafe()
            self._refreshes[found["refresh_token"]] = sent
        return _json(200, found)

    def shown(self, name: str) -> dict[str, Any]:
        public = self.keys[name].public_key()
        return {**jwt.algorithms.RSAAlgorithm.to_jwk(public, as_dict=True), "kid": name, "use": "sig", "alg": "RS256"}

    def sign(self, kid: str = "one", **claims: Any) -> str:
        if kid not in self.keys:
            self.keys[kid] = rsa.generate_private_key(65537, 2048)
        whole = {"iss": self.issuer, "aud": "podless", "sub": "u-1", "exp": int(time.time()) + 60} | claims
        given = {name: value for name, value in whole.items() if value is not None}
        return jwt.encode(given, self.keys[kid], "RS256", headers={"kid": kid})


def _json(status: int, body: Any) -> Answer:
    return status, {"Content-Type": "application/json"}, json.dumps(body).encode()
