"""A client for any server of the Kubernetes API: JSON out and back, tried again where the server asks for it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from podless.meta import codec
from podless.remote.client import RemoteError
from podless.remote.kubeconfig import Access

if TYPE_CHECKING:
    import aiohttp

Object = dict[str, Any]

_TRIES = 5
_AGAIN = (429, 502, 503, 504)
_SECONDS = 60  # for one answer


class Refused(RemoteError):
    """An answer that is no success. code: its HTTP status. status: the Status, or {}."""

    def __init__(self, code: int, status: Object) -> None:
        super().__init__(status.get("message") or f"the server answered {code}")
        self.code = code
        self.status = status


class Cluster:
    """A connection to one server, as an asynchronous context manager. agent: the User-Agent.

    received: bytes of all answers so far.
    """

    def __init__(self, access: Access, agent: str) -> None:
        self.received = 0
        self._access = access
        self._agent = agent
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        import aiohttp

        headers = {"User-Agent": self._agent, "Accept": "application/json"}
        if self._access.token:
            headers["Authorization"] = f"Bearer {self._access.token}"
        connector = aiohttp.TCPConnector(ssl=self._access.context or False)
        timeout = aiohttp.ClientTimeout(total=_SECONDS)
        self._session = aiohttp.ClientSession(connector=connector, timeout=timeout, headers=headers)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def read(self, path: str) -> tuple[bytes, Mapping[str, str]]:
        """The bytes and the headers that answer a GET. Raises Refused, or RemoteError where there is no answer."""
        import aiohttp

        assert self._session is not None
        try:
            async with self._session.get(self._access.url + path, headers={"Accept": "*/*"}) as answer:
                raw = await answer.read()
                if answer.status >= 300:
                    raise Refused(answer.status, _status(answer.content_type, raw))
                return raw, answer.headers
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise RemoteError(f"{self._access.url}: {error or type(error).__name__}") from None

    async def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        media: str = "application/json",
        headers: Iterable[tuple[str, str]] = (),
    ) -> Object:
        """The document that answers a request. headers: more of them, such as whom to act for.

        Raises Refused, or RemoteError where there is no answer.
        """
        import aiohttp

        wait = 0.1  # seconds
        for last in [False] * (_TRIES - 1) + [True]:
            try:
                return await self._once(method, path, body, media, headers)
            except Refused as refused:
                if last or refused.code not in _AGAIN:
                    raise
                wait = max(wait, float((refused.status.get("details") or {}).get("retryAfterSeconds") or 0))
            except (aiohttp.ClientError, OSError, TimeoutError) as error:
                if last:
                    raise RemoteError(f"{self._access.url}: {error or type(error).__name__}") from None
            await asyncio.sleep(wait)
            wait *= 3
        raise AssertionError

    async def _once(self, method: str, path: str, body: Any, media: str, headers: Iterable[tuple[str, str]]) -> Object:
        assert self._session is not None
        data = None if body is None else codec.encode(body)
        sent = [*headers] if body is None else [*headers, ("Content-Type", media)]
        async with self._session.request(method, self._access.url + path, data=data, headers=sent) as answer:
            raw = await answer.read()
            self.received += len(raw)
            document: Any = {}
            if "json" in answer.content_type:
                try:
                    document = codec.decode_json(raw)
                except codec.JSONError:
                    document = {}
            if answer.status >= 300:
                raise Refused(answer.status, document if document.get("kind") == "Status" else {})
            return dict(document)


def _status(media: str, raw: bytes) -> Object:
    """The Status in an answer, {} where there is none."""
    try:
        document = codec.decode_json(raw) if "json" in media else {}
    except codec.JSONError:
        return {}
    return document if isinstance(document, dict) and document.get("kind") == "Status" else {}
