"""A client for any Kubernetes API server: sends and receives JSON, and retries if the server asks for it.

`retry_call` is the only retry loop of clients; the server's own is in verbs/storage.py.
"""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Self, TypeVar

from podless.codec import serializer
from podless.remote.client import RemoteError
from podless.remote.execplugin import Credential
from podless.remote.kubeconfig import BadKubeconfig, ClusterAccess
from podless.runtime.jsonobject import Object
from podless.version import __version__

if TYPE_CHECKING:
    import ssl

    import aiohttp

_TRIES = 5
_DELAY, _GROWTH = 0.1, 3.0  # seconds before the first retry, and the factor for each later one
_SECONDS = 60  # timeout of one answer
# Source: plugin/pkg/admission/serviceaccount of Kubernetes
_TOO_LARGE, _EXACT = "ResourceVersionTooLarge", "resourceVersionMatch=Exact"
_NO_ACCOUNT = "error looking up service account"
T = TypeVar("T")


class Refused(RemoteError):
    """The answer is an error. code: its HTTP status. status: the Status, or {}."""

    def __init__(self, code: int, status: Object) -> None:
        message = status.get("message") or f"the server answered {code}"
        super().__init__(f"{message}: the server does not accept these credentials" if code == 401 else message)
        self.code = code
        self.status = status

    @property
    def wait(self) -> float:
        """The seconds to wait that the server asks for; 0 without a Retry-After."""
        return float((self.status.get("details") or {}).get("retryAfterSeconds") or 0)

    @property
    def next_token(self) -> str:
        """The continue token with which a list goes on at a later state, after its own has expired; "" for none."""
        return str((self.status.get("metadata") or {}).get("continue") or "") if self.code == 410 else ""


class Conflicting(Refused):
    """409: the object changed since the client read it, or exists already."""


class RemoteGone(Refused):
    """410: the server has forgotten the requested state."""


class RemoteBusy(Refused):
    """429, 502, 503 or 504: the same request may succeed later."""


class MissingServiceAccount(Refused):
    """403 for a pod whose service account does not exist yet. A cluster makes it some time after the namespace."""


_BY_CODE: dict[int, type[Refused]] = {
    409: Conflicting,
    410: RemoteGone,
    429: RemoteBusy,
    502: RemoteBusy,
    503: RemoteBusy,
    504: RemoteBusy,
}


def make_refusal(code: int, status: Object) -> Refused:
    """Return the error for an answer. NoAccount is recognized by its text, because the Status shows nothing else."""
    if code == 403 and _NO_ACCOUNT in str(status.get("message")):
        return MissingServiceAccount(code, status)
    return _BY_CODE.get(code, Refused)(code, status)


class RemoteCluster:
    """A connection to one server, as an asynchronous context manager. agent: the User-Agent, without the version.

    seconds: timeout of one answer. tries: number of attempts without an answer. received: bytes of all answers so far.
    warnings: the values of the Warning headers of the last answer.
    """

    def __init__(self, access: ClusterAccess, agent: str, *, seconds: float = _SECONDS, tries: int = _TRIES) -> None:
        self.received = 0
        self.warnings: list[str] = []
        self._seconds, self._tries = seconds, tries
        self._access = access
        self._agent = agent
        self._session: aiohttp.ClientSession | None = None
        self._old_sessions: list[aiohttp.ClientSession] = []  # sessions with earlier client certificates
        self._credential = Credential(access.token)

    async def __aenter__(self) -> Self:
        self._open_session(self._access.context)
        return self

    def _open_session(self, context: ssl.SSLContext | None) -> None:
        import aiohttp

        headers = {"User-Agent": f"{self._agent}/{__version__}", "Accept": "application/json"}
        connector = aiohttp.TCPConnector(ssl=context or False)
        timeout = aiohttp.ClientTimeout(total=self._seconds)
        self._session = aiohttp.ClientSession(connector=connector, timeout=timeout, headers=headers)

    async def _renew_credential(self, refused: Credential | None = None) -> None:
        """Get a credential from the plugin if there is no valid one. Raises RemoteError."""
        plugin, certified, before = self._access.plugin, self._access.certified, self._credential
        if plugin is None:
            return
        self._credential = now = await plugin.get_credential(refused)
        if certified is not None and now.certificate and (now.certificate, now.key) != (before.certificate, before.key):
            try:
                context = certified(now.certificate, now.key)
            except BadKubeconfig as error:
                raise RemoteError(str(error)) from None
            if self._session is not None:
                self._old_sessions.append(self._session)  # requests may be in progress
            self._open_session(context)

    @asynccontextmanager
    async def _open_request(
        self, method: str, path: str, headers: Iterable[tuple[str, str]], data: bytes | None = None
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Yield the answer to one request; retried with new credentials if the server rejects them."""
        access = self._access
        options: dict[str, Any] = {"proxy": access.proxy} if access.proxy else {}
        if access.server_name:
            options["server_hostname"] = access.server_name
        await self._renew_credential()
        for last in (access.plugin is None, True):
            assert self._session is not None
            credential = self._credential
            fields = [*headers]
            if credential.token:
                fields.append(("Authorization", f"Bearer {credential.token}"))
            async with self._session.request(method, access.url + path, data=data, headers=fields, **options) as answer:
                if answer.status != 401 or last:
                    yield answer
                    return
            await self._renew_credential(credential)

    async def __aexit__(self, *error: object) -> None:
        for session in [*self._old_sessions, *([self._session] if self._session is not None else [])]:
            await session.close()
        self._old_sessions.clear()
        self._session = None

    def _unanswered_error(self, error: Exception) -> RemoteError:
        """Return the error for a request that got no answer."""
        import aiohttp

        if isinstance(error, TimeoutError):
            reason = f"no answer within {self._seconds:g} s"
        elif isinstance(error, aiohttp.ClientConnectorCertificateError):
            problem = getattr(error.certificate_error, "verify_message", "") or error.certificate_error
            reason = f"cannot connect: the server's certificate is not trusted: {problem}"
        elif isinstance(error, aiohttp.ClientConnectorSSLError):
            reason = f"cannot connect: TLS: {getattr(error.os_error, 'reason', '') or error.os_error}"
        elif isinstance(error, aiohttp.ClientConnectorError):
            number = error.os_error.errno or 0  # the texts of asyncio's errors vary
            named = os.strerror(number).lower() if number in errno.errorcode else ""
            reason = f"cannot connect: {named or error.strerror or error.os_error}"
        elif isinstance(error, aiohttp.ServerDisconnectedError):
            plain = "; it may expect https" if self._access.url.startswith("http:") else ""
            reason = f"the server closed the connection without an answer{plain}"
        elif isinstance(error, aiohttp.ClientPayloadError):
            reason = "the answer was cut off"
        else:
            reason = str(error) or type(error).__name__
        return RemoteError(f"{self._access.url}: {reason}")

    async def read(self, path: str) -> tuple[bytes, Mapping[str, str]]:
        """Return the body and the headers of a GET. Raises Refused, or RemoteError if there is no answer."""
        import aiohttp

        try:
            async with self._open_request("GET", path, [("Accept", "*/*")]) as answer:
                raw = await answer.read()
                if answer.status >= 300:
                    raise make_refusal(answer.status, _read_status(answer.content_type, raw))
                return raw, answer.headers
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise self._unanswered_error(error) from None

    async def watch(self, path: str) -> AsyncIterator[Object]:
        """Yield the events of a watch until it ends. Raises Refused, or RemoteError if there is no answer."""
        import aiohttp

        try:
            async with self._open_request("GET", path, ()) as answer:
                if answer.status >= 300:
                    raise make_refusal(answer.status, _read_status(answer.content_type, await answer.read()))
                partial = b""
                async for piece, _ in answer.content.iter_chunks():
                    *lines, partial = (partial + piece).split(b"\n")
                    for line in lines:
                        yield dict(serializer.decode_json(line))
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise self._unanswered_error(error) from None

    async def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        media: str = "application/json",
        headers: Iterable[tuple[str, str]] = (),
    ) -> Object:
        """Return the document that answers a request. headers: more headers, such as for impersonation.

        Raises Refused, or RemoteError if there is no answer.
        """
        import aiohttp

        unanswered = (aiohttp.ClientError, OSError, TimeoutError)

        async def send_request() -> Object:
            try:
                return await self._send_once(method, path, body, media, headers)
            except aiohttp.ClientConnectorCertificateError as error:  # would be the same again
                raise self._unanswered_error(error) from None

        try:
            return await retry_call(
                send_request, RemoteBusy, *unanswered, tries=self._tries, pause=_DELAY, growth=_GROWTH
            )
        except unanswered as error:
            raise self._unanswered_error(error) from None

    async def _send_once(
        self, method: str, path: str, body: Any, media: str, headers: Iterable[tuple[str, str]]
    ) -> Object:
        data = None if body is None else serializer.encode_json(body)
        header_list = [*headers] if body is None else [*headers, ("Content-Type", media)]
        async with self._open_request(method, path, header_list, data) as answer:
            raw = await answer.read()
            self.received += len(raw)
            self.warnings = answer.headers.getall("Warning", [])
            if answer.status >= 300:
                status = _read_status(answer.content_type, raw)
                if _EXACT in path and _is_too_large(status):  # a user named it: no server may ever reach it
                    raise Refused(answer.status, status)
                raise make_refusal(answer.status, status)
            return _read_document(answer.content_type, raw)


def _is_too_large(status: Object) -> bool:
    """Return whether the server has not reached the requested revision."""
    causes = (status.get("details") or {}).get("causes") or ()
    return any(isinstance(cause, dict) and cause.get("reason") == _TOO_LARGE for cause in causes)


def _read_document(media: str, raw: bytes) -> Object:
    """Return the document in an answer, {} if there is none."""
    try:
        document = serializer.decode_json(raw) if "json" in media else {}
    except serializer.JSONError:
        return {}
    return document if isinstance(document, dict) else {}


def _read_status(media: str, raw: bytes) -> Object:
    document = _read_document(media, raw)
    return document if document.get("kind") == "Status" else {}


async def retry_call(
    work: Callable[[], Awaitable[T]],
    *errors: type[Exception],
    tries: int = 0,
    seconds: float = 0.0,
    pause: float = 0.0,
    growth: float = 1.0,
) -> T:
    """Call `work` until it raises none of these errors, and return its result.

    tries: maximum number of calls (default: no limit). seconds: no further call starts after them (default: no limit).
    pause: seconds between two calls, multiplied by `growth` after each; an error that has a `wait` can ask for more.
    Raises the last error at a limit, and any other error at once.
    """
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while True:
        tries -= 1
        try:
            return await work()
        except errors as error:
            if tries == 0 or (seconds and loop.time() > end):
                raise
            pause = max(pause, getattr(error, "wait", 0.0))
        if pause:
            await asyncio.sleep(pause)
        pause *= growth
