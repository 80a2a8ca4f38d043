"""Calls to an etcd cluster: which member is asked, how long for, over what channel, and what its errors are here."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import grpc
import grpc.aio

from podless.meta.histogram import Histogram
from podless.store.contract import Full, Overdue, Oversized, StoreError, Unreachable
from podless.store.etcd import messages as m
from podless.store.etcd.settings import Etcd

log = logging.getLogger("podless")

_TIMES = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
_PATIENCE = 5.0  # seconds that an answer may take
_REST = 0.1  # seconds between two tries
_OLD = 5.0  # seconds that a channel stays for the calls that use it
_SERVICES: dict[str, tuple[str, Any, Any]] = {
    "range": ("KV/Range", m.RangeRequest, m.RangeResponse),
    "put": ("KV/Put", m.PutRequest, m.PutResponse),
    "txn": ("KV/Txn", m.TxnRequest, m.TxnResponse),
    "compact": ("KV/Compact", m.CompactionRequest, m.CompactionResponse),
    "lease": ("Lease/LeaseGrant", m.LeaseGrantRequest, m.LeaseGrantResponse),
    "status": ("Maintenance/Status", m.StatusRequest, m.StatusResponse),
}
_READS = {"range", "status", "lease"}  # can be asked again without harm
_UNSENT = ("failed to connect", "Connection refused", "connections to all backends failing")
_CHANNEL = [
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
    # etcd refuses more than one ping in 5 seconds
    ("grpc.keepalive_time_ms", 6000),
    ("grpc.keepalive_timeout_ms", 3000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1000),
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.enable_http_proxy", 0),
]


class Forgotten(Exception):
    """What was asked about is older than the history that is kept."""


class Client:
    """One member of the cluster at a time, another where that one fails. times: by what was asked, how long it took."""

    def __init__(self, settings: Etcd) -> None:
        self.times = {name: Histogram(_TIMES) for name in _SERVICES}
        self._settings = settings
        self._member = 0
        self._channel: grpc.aio.Channel | None = None
        self._calls: dict[str, Callable[..., Any]] = {}
        self._watch: Callable[..., Any] | None = None
        self._files: tuple[int, ...] = ()
        self._leaving: set[asyncio.Task[None]] = set()
        self._failed = ""

    def open(self) -> None:
        """Get ready to ask. Raises StoreError for certificates that cannot be read."""
        settings = self._settings
        address = urlsplit(settings.servers[self._member]).netloc
        self._files = self._read()
        if settings.secure:
            channel = grpc.aio.secure_channel(address, self._credentials(), _CHANNEL)
        else:
            channel = grpc.aio.insecure_channel(address, _CHANNEL)
        for name, (path, request, response) in _SERVICES.items():
            self._calls[name] = channel.unary_unary(
                f"/etcdserverpb.{path}",
                request_serializer=request.SerializeToString,
                response_deserializer=response.FromString,
            )
        self._watch = channel.stream_stream(
            "/etcdserverpb.Watch/Watch",
            request_serializer=m.WatchRequest.SerializeToString,
            response_deserializer=m.WatchResponse.FromString,
        )
        self._channel = channel

    def _credentials(self) -> Any:
        settings = self._settings
        try:
            authorities, certificate, key = (
                Path(path).read_bytes() if path is not None else None
                for path in (settings.cafile, settings.certfile, settings.keyfile)
            )
        except OSError as error:
            raise StoreError(f"{error.filename}: {(error.strerror or str(error)).lower()}") from None
        return grpc.ssl_channel_credentials(authorities, key, certificate)

    def _read(self) -> tuple[int, ...]:
        """When each of the files was written last."""
        found = []
        for path in (self._settings.cafile, self._settings.certfile, self._settings.keyfile):
            try:
                found.append(Path(path).stat().st_mtime_ns if path is not None else 0)
            except OSError:
                found.append(0)
        return tuple(found)

    def look(self) -> None:
        """Take certificates that have changed."""
        if self._read() != self._files:
            self._change(self._member)

    def _change(self, member: int) -> None:
        """Go on with a member, over a new channel; calls that are under way end in their own time."""
        old = self._channel
        self._member = member % len(self._settings.servers)
        try:
            self.open()
        except StoreError as error:
            log.error("etcd: %s", error)  # the channel that there is may still be good
            return
        if old is not None:
            task = asyncio.get_running_loop().create_task(old.close(_OLD))
            self._leaving.add(task)
            task.add_done_callback(self._leaving.discard)

    async def close(self) -> None:
        """End all calls."""
        for task in self._leaving:
            task.cancel()
        await asyncio.gather(*self._leaving, return_exceptions=True)
        if self._channel is not None:
            await self._channel.close()
            self._channel = None
            self._calls = {}

    async def ask(self, name: str, request: Any) -> Any:
        """The answer to a request. Raises Forgotten, and StoreError as `_refusal` says."""
        began = time.perf_counter()
        until = time.monotonic() + _PATIENCE
        while True:
            call = self._calls.get(name)
            if call is None:
                raise StoreError("the store is closed")
            channel = self._channel
            try:
                answer = await call(request, timeout=max(until - time.monotonic(), 0.01))
            except grpc.aio.AioRpcError as error:
                refusal = _refusal(error)
                if not isinstance(refusal, Unreachable):
                    raise refusal from None
                self._elsewhere(channel, str(refusal))
                unsent = name in _READS or any(text in (error.details() or "") for text in _UNSENT)
                if not unsent or time.monotonic() + _REST >= until:
                    raise refusal from None
                await asyncio.sleep(_REST)
            else:
                self.times[name].observe(time.perf_counter() - began)
                if self._failed:
                    log.warning("etcd answers again")
                    self._failed = ""
                return answer

    def _elsewhere(self, channel: Any, why: str) -> None:
        """Ask another member from now on, where nobody has thought of that yet."""
        if not self._failed:
            log.error("etcd: %s", why)
        self._failed = why
        if channel is self._channel and len(self._settings.servers) > 1:
            self._change(self._member + 1)

    async def watch(self, requests: asyncio.Queue[Any]) -> AsyncIterator[Any]:
        """What a stream of watches answers to requests. Raises StoreError where it ends."""
        if self._watch is None or self._channel is None:
            raise StoreError("the store is closed")
        channel = self._channel
        # a member that has lost its leader ends the stream, so that another can be asked
        stream = self._watch(metadata=(("hasleader", "true"),))
        writer = asyncio.get_running_loop().create_task(_send(stream, requests))
        try:
            async for answer in stream:
                yield answer
            raise Unreachable("etcdserver: the watch has ended")
        except grpc.aio.AioRpcError as error:
            refusal = _refusal(error)
            if isinstance(refusal, Unreachable):
                self._elsewhere(channel, str(refusal))
            raise refusal from None
        finally:
            writer.cancel()
            stream.cancel()
            await asyncio.gather(writer, return_exceptions=True)


async def _send(stream: Any, requests: asyncio.Queue[Any]) -> None:
    while True:
        await stream.write(await requests.get())


def _refusal(error: grpc.aio.AioRpcError) -> Exception:
    """What an error of etcd is here."""
    code, text = error.code(), error.details() or ""
    if code is grpc.StatusCode.OUT_OF_RANGE and "compacted" in text:
        return Forgotten()
    if code is grpc.StatusCode.DEADLINE_EXCEEDED:
        return Overdue()
    if code is grpc.StatusCode.RESOURCE_EXHAUSTED and "space" in text:
        return Full()
    if "too large" in text or code is grpc.StatusCode.RESOURCE_EXHAUSTED:
        return Oversized()
    if code in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED) or "leader" in text:
        return Unreachable(text if text.startswith("etcdserver") else "etcdserver: cannot be reached")
    return StoreError(text or f"etcd: {code.name.lower()}")


Ask = Callable[[str, Any], Awaitable[Any]]
