"""HTTPS requests to an OpenID Connect provider: its discovery document, its keys, and its tokens.

Source: OpenID Connect Discovery 1.0; RFC 6749, sections 4.1.3 and 6; RFC 7009; RFC 7636.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from podless.auth.access import OIDC, BadAccess
from podless.codec import serializer
from podless.runtime.dataclass import dataclass
from podless.runtime.files import describe_fault

if TYPE_CHECKING:
    import aiohttp

_TIME = 10.0  # timeout of a request, in seconds
_LARGEST = 1 << 20  # bytes of a document
_LONGEST = 200  # characters of an error text that are shown
_REFRESH_TOKEN = 1 << 12  # characters; longer refresh tokens are dropped
_PATH = "/.well-known/openid-configuration"


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
