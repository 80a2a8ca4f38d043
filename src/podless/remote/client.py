"""The HTTP client for webhooks: JSON documents, with limits of time and size.

aiohttp is imported with the first call. Errors have the texts of Go's client, which clients of a real server see.
"""

from __future__ import annotations

import asyncio
import base64
import errno
import math
import os
import posixpath
import ssl
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote, unquote, urlsplit

from podless.codec import gotext, serializer
from podless.offload.offloop import OffLoop
from podless.runtime import clock
from podless.runtime.dataclass import dataclass
from podless.runtime.lazy import compile_late
from podless.runtime.option import ReportedError
from podless.runtime.traces import drop_tracebacks

if TYPE_CHECKING:
    import aiohttp


# the address of a webhook: the clientConfig of a definition or configuration


@dataclass(frozen=True, slots=True)
class WebhookTarget:
    """A webhook's address.

    url: without a query. authority: certificates (PEM) of the CAs for the webhook; b"" for those of the system.
    service: namespace/name:port if the webhook is behind a Service, else "".
    """

    url: str
    authority: bytes = b""
    service: str = ""

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> WebhookTarget:
        """Return the target of a clientConfig that has been validated: url or service, and caBundle as base64."""
        authority = base64.b64decode(config.get("caBundle") or "").strip()
        service = config.get("service")
        if not service:
            # as in a real server, without query, fragment and user
            split = urlsplit(config["url"])
            return cls(
                f"{split.scheme}://{split.netloc.rpartition('@')[2]}{_normalize_path(unquote(split.path))}", authority
            )
        namespace, name, port = service["namespace"], service["name"], service.get("port") or 443
        url = f"https://{name}.{namespace}.svc:{port}{_normalize_path(service.get('path') or '')}"
        return cls(url, authority, f"{namespace}/{name}:{port}")


def _normalize_path(path: str) -> str:
    """Normalize a path as Go's client does: absolute, without empty segments, dots or a trailing slash.

    Some clients, such as controller-runtime's envtest, write two slashes before the path.
    """
    return quote("/" + posixpath.normpath(f"/{path}").lstrip("/"), safe="$&+,/:;=@")


R = TypeVar("R")

MAX_ANSWER = 64 << 20  # maximum bytes of an answer
# deadline of the client's request, by time.monotonic(); None without one
DEADLINE: ContextVar[float | None] = ContextVar("deadline", default=None)
_MAX_REFUSAL = 1 << 17  # bytes that are read of an error answer, which is decoded on the event loop
_MAX_ON_LOOP = 1 << 18  # bytes; longer answers are parsed off the loop
_KEEP_CONTEXTS = 200
_UNKNOWN_AUTHORITY = (2, 18, 19, 20, 21)  # OpenSSL's codes for a chain that ends in no trusted certificate
_EXPIRED = (9, 10)
_OTHER_NAME = (62, 64)
_VERIFY = "tls: failed to verify certificate: x509: "
_NOT_TLS = "http: server gave HTTP response to HTTPS client"
_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]++"
# a media type with parameters, by the rules of Go's mime package
_MEDIA = compile_late(rf'\s*+{_TOKEN}(?:/{_TOKEN})?\s*+(?:;\s*+{_TOKEN}=(?:{_TOKEN}|"(?:[^"\\]|\\.)*+")\s*+)*+;?\s*+')


class RemoteError(ReportedError):
    """A call failed. The text says why."""


class CallTimeout(RemoteError):
    """The answer did not arrive completely within the timeout."""


class WebhookClient:
    """Calls webhooks. services: addresses of Services, as namespace/name or namespace/name:port -> host:port.

    external: returns the host of a Service that is not listed, by namespace and name, or "" for DNS
    (name.namespace.svc). disturbed: whether a call to an address must time out, for tests. off_loop: runs long work off
    the event loop, and parses long answers in another process.
    """

    def __init__(
        self,
        services: Mapping[str, str] | None = None,
        *,
        external: Callable[[str, str], Awaitable[str]] | None = None,
        disturbed: Callable[[str], bool] | None = None,
        off_loop: OffLoop | None = None,
    ) -> None:
        self.services = dict(services or {})
        self.external = external
        self._disturbed = disturbed
        self._off_loop = off_loop
        self._session: aiohttp.ClientSession | None = None
        self._closed = False
        self._trusted: dict[bytes, ssl.SSLContext | aiohttp.Fingerprint] = {}

    async def post_json(
        self, target: WebhookTarget, body: bytes, *, seconds: int, limit: int = MAX_ANSWER, until: float | None = None
    ) -> bytes:
        """Send a JSON document and return the answer's body, at most `limit` bytes. Raises RemoteError, or CallTimeout.

        seconds: total timeout, which is sent to the webhook. until: deadline, like DEADLINE.
        """
        if "aiohttp" not in sys.modules and self._off_loop is not None:
            await self._off_loop.run_on_thread(_import_libraries)
        import aiohttp

        within: float = seconds
        if until is not None:
            within = min(seconds, max(until - time.monotonic(), 0))
            seconds = max(math.ceil(within), 1)
        url = f"{target.url}?timeout={seconds}s"
        prefix = f"Post {gotext.quote(url)}: "
        if self._disturbed is not None and self._disturbed(target.url):
            raise CallTimeout(f"{prefix}context deadline exceeded")
        try:
            async with asyncio.timeout(within):
                try:
                    status, media, answer = await self._send_request(target, url, body, limit)
                except (aiohttp.ServerDisconnectedError, ConnectionResetError):
                    # the webhook may have closed a kept connection meanwhile
                    status, media, answer = await self._send_request(target, url, body, limit)
        except TimeoutError as error:
            drop_tracebacks(error)
            raise CallTimeout(f"{prefix}context deadline exceeded") from None
        except RemoteError as error:
            raise RemoteError(f"{prefix}{error}") from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            drop_tracebacks(error)  # frames of aiohttp refer to it, and to the body
            raise RemoteError(prefix + _describe_failure(error, target)) from None
        if media and not _MEDIA.fullmatch(media):
            raise RemoteError("Internal error occurred: mime: invalid media parameter")
        if not 200 <= status <= 206:
            raise RemoteError(_describe_refusal(status, media.partition("/")[0], answer))
        if not answer:
            kind = media or "application/json"
            raise RemoteError(f"0-length response with status code: {status} and content type: {kind}")
        return answer

    async def run_by_size(self, size: int, work: Callable[..., R], *arguments: Any) -> R:
        """Run work on so many bytes, off the loop if they are many. Raises the error of the work."""
        return work(*arguments) if self._off_loop is None else await self._off_loop.make_value(size, work, *arguments)

    async def run_in_slices(self, work: Callable[..., R], *args: Any) -> R:
        """Run work on the loop in slices, and return its result. Raises the error of the work, and Timeout."""
        return await self.run_by_size(0, work, *args)

    async def read(self, answer: bytes, work: Callable[[bytes], R]) -> R:
        """Run work on an answer as on request bodies (long ones off the loop), and return its result.

        Raises the error of the work, Timeout and TooManyRequests.
        """
        if self._off_loop is not None and len(answer) > _MAX_ON_LOOP:
            answer = await self._off_loop.worker.parse_json(answer)
        return await self.run_by_size(len(answer), work, answer)

    async def close(self) -> None:
        """Close all connections. Calls in progress, and later ones, fail."""
        self._closed = True
        if self._session is not None:
            session, self._session = self._session, None
            await session.close()

    async def _send_request(self, target: WebhookTarget, url: str, body: bytes, limit: int) -> tuple[int, str, bytes]:
        session = self._open_session()
        trust = self._find_trust(target.authority)
        headers = {"Content-Type": "application/json", "Accept": "application/json, */*"}
        async with session.post(url, data=body, headers=headers, ssl=trust, allow_redirects=False) as answer:
            read = bytearray()
            async for piece in answer.content.iter_any():
                read += piece
                if not 200 <= answer.status <= 206 and len(read) > _MAX_REFUSAL:
                    del read[_MAX_REFUSAL:]
                    break
                if len(read) > limit:
                    raise ValueError(f"the answer is larger than {limit} bytes")
            return answer.status, answer.headers.get("Content-Type", ""), bytes(read)

    def _open_session(self) -> aiohttp.ClientSession:
        if self._closed:
            raise OSError("the server is shutting down")
        if self._session is None:
            import aiohttp

            connector = aiohttp.TCPConnector(resolver=_make_resolver(self), use_dns_cache=False, limit=0)
            no_timeout = aiohttp.ClientTimeout(total=None, sock_connect=None)
            self._session = aiohttp.ClientSession(
                connector=connector, timeout=no_timeout, cookie_jar=aiohttp.DummyCookieJar()
            )
        return self._session

    def _find_trust(self, authority: bytes) -> ssl.SSLContext | aiohttp.Fingerprint:
        trust = self._trusted.get(authority)
        if trust is None:
            if len(self._trusted) >= _KEEP_CONTEXTS:
                self._trusted.clear()
            trust = self._trusted[authority] = _make_fingerprint(authority) if authority else _system_context()
        return trust


def _import_libraries() -> None:
    """Import the modules that calls need, which takes a quarter of a second."""
    import aiohttp  # noqa: F401

    from podless.remote import trust  # noqa: F401


def _system_context() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.hostname_checks_common_name = False
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context


def _make_fingerprint(authority: bytes) -> aiohttp.Fingerprint:
    """Return a check of a new connection's certificates against these CAs, before anything is sent."""
    import aiohttp

    from podless.remote import trust

    roots = trust.parse_authorities(authority)

    class Judge(aiohttp.Fingerprint):
        def check(self, transport: asyncio.Transport) -> None:
            tls = transport.get_extra_info("ssl_object")
            if tls is None:
                return
            # a public method from Python 3.13 on, which returns bytes
            sent = tls._sslobj.get_unverified_chain() or ()
            chain = [
                item if isinstance(item, bytes) else ssl.PEM_cert_to_DER_cert(item.public_bytes()) for item in sent
            ]
            try:
                trust.judge_server(chain, tls.server_hostname or "", roots, clock.utc_now())
            except trust.Untrusted as error:
                transport.abort()
                raise RemoteError(str(error)) from None

    return Judge(b"\0" * 32)  # the fingerprint is not used


def _make_resolver(client: WebhookClient) -> aiohttp.abc.AbstractResolver:
    """Return a resolver for the listed Services; other hosts are resolved by the system."""
    import socket

    from aiohttp.abc import AbstractResolver, ResolveResult
    from aiohttp.resolver import ThreadedResolver

    class Resolver(AbstractResolver):
        def __init__(self) -> None:
            self._system = ThreadedResolver()

        async def resolve(
            self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
        ) -> list[ResolveResult]:
            name, _, namespace = host.removesuffix(".svc").partition(".")
            service = f"{namespace}/{name}"
            address = client.services.get(f"{service}:{port}") or client.services.get(service)
            if address is None and host.endswith(".svc") and client.external is not None:
                external = await client.external(namespace, name)
                address = f"{external}:{port}" if external else None
            if address is None:
                return await self._system.resolve(host, port, family)
            target, _, its_port = address.rpartition(":")
            places = await self._system.resolve(target.strip("[]"), int(its_port), family)
            return [{**one, "hostname": host} for one in places]

        async def close(self) -> None:
            await self._system.close()

    return Resolver()


def _describe_failure(error: Exception, target: WebhookTarget) -> str:
    """Return why a call failed, with Go's text."""
    import aiohttp

    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return _describe_certificate(error.certificate_error, error.host)
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        if target.service:
            return f"service {gotext.quote(target.service.partition('/')[2].partition(':')[0])} not found"
        return f"dial tcp: lookup {error.host}: no such host"
    if isinstance(error, aiohttp.ClientSSLError | ssl.SSLError):
        return _describe_tls(error)
    if isinstance(error, aiohttp.ClientConnectorError):
        os_error = error.os_error
        if os_error.errno == errno.ECONNREFUSED or os_error.errno is None:
            return f"dial tcp {error.host}:{error.port}: connect: connection refused"
        return f"dial tcp {error.host}:{error.port}: connect: {os.strerror(os_error.errno).lower()}"
    if isinstance(error, aiohttp.ServerDisconnectedError | aiohttp.ClientPayloadError):
        return "EOF"
    if isinstance(error, ConnectionResetError):
        return f"read tcp {target.url.split('/')[2]}: read: connection reset by peer"
    if isinstance(error, aiohttp.ClientResponseError):
        return f"net/http: HTTP/1.x transport connection broken: malformed HTTP response {gotext.quote(error.message)}"
    return str(error) or type(error).__name__


def _describe_tls(error: Exception) -> str:
    os_error = getattr(error, "os_error", error)  # aiohttp wraps the error
    if getattr(os_error, "reason", "") in ("WRONG_VERSION_NUMBER", "HTTP_REQUEST"):
        return _NOT_TLS
    return f"remote error: tls: {error}"


def _describe_certificate(error: Exception, host: str) -> str:
    code = getattr(error, "verify_code", 0)
    if code in _UNKNOWN_AUTHORITY:
        return f"{_VERIFY}certificate signed by unknown authority"
    if code in _EXPIRED:
        return f"{_VERIFY}certificate has expired or is not yet valid"
    if code in _OTHER_NAME:
        return f"{_VERIFY}certificate is not valid for {host}"
    return f"{_VERIFY}{getattr(error, 'verify_message', '') or error}"


_STATUSES = {
    400: "the server rejected our request for an unknown reason",
    401: "the server has asked for the client to provide credentials",
    404: "the server could not find the requested resource",
    405: "the server does not allow this method on the requested resource",
    409: "the server reported a conflict",
    422: "the server rejected our request due to an error in our request",
    429: "the server has received too many requests and has asked us to try again later",
    503: "the server is currently unable to handle the request",
    504: "the server was unable to return a response in the time allotted, but may still be processing the request",
}
_QUOTED = (403, 406, 415)  # status codes whose body is quoted in the error text
_MAX_TEXT = 2048  # maximum bytes of a body in an error text


def _describe_refusal(status: int, media: str, body: bytes) -> str:
    """Return the text of an unsuccessful answer, as client-go reports it."""
    if body.lstrip()[:1] == b"{":
        try:
            document = serializer.decode_json(body)
        except serializer.JSONError:
            document = {}
        if document.get("kind") == "Status" and document.get("message"):
            return str(document["message"])
    refusal = body[:_MAX_TEXT].decode("utf-8", "replace").strip() if media in ("", "text") else "unknown"
    if status in _STATUSES:
        return _STATUSES[status]
    if status in _QUOTED:
        return refusal
    if status >= 500:
        return f"an error on the server ({gotext.quote(refusal)}) has prevented the request from succeeding"
    return f"the server responded with the status code {status} but did not return more information"
