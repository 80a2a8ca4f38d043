"""Calls to an etcd cluster: the choice of the member, timeouts, and the translation of errors."""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Generic, TypeVar
from urllib.parse import urlsplit

from podless.runtime.histogram import Histogram
from podless.store.contract import BUCKETS, StoreError, StoreFull, StoreTimeout, StoreUnreachable, ValueTooLarge
from podless.store.etcd import channel as rpc
from podless.store.etcd import messages as m
from podless.store.etcd.channel import Channel, ChannelError
from podless.store.etcd.settings import Etcd

log = logging.getLogger("podless")

_CALL_TIMEOUT = 5.0  # seconds until a call times out
_MEMBER_TIMEOUT = 2.0  # seconds in which a reachable member must be found
_CONNECT_TIMEOUT = 2.0  # seconds to connect to a member
_RETRY_DELAY = 0.1  # seconds between two attempts
_DRAIN_SECONDS = 5.0  # seconds that a replaced connection stays open for its calls
_DEFAULT_PORT = 2379
_SERVICES: dict[str, tuple[str, Any]] = {
    "range": ("/etcdserverpb.KV/Range", m.RangeResponse),
    "put": ("/etcdserverpb.KV/Put", m.PutResponse),
    "txn": ("/etcdserverpb.KV/Txn", m.TxnResponse),
    "compact": ("/etcdserverpb.KV/Compact", m.CompactionResponse),
    "lease": ("/etcdserverpb.Lease/LeaseGrant", m.LeaseGrantResponse),
    "status": ("/etcdserverpb.Maintenance/Status", m.StatusResponse),
}
_WATCH = "/etcdserverpb.Watch/Watch"
_READS = {"range", "status", "lease"}  # calls that can be repeated without harm
_DROPPED = "proposal dropped"  # the error of a member that knew no leader to forward a write to


class CompactedByEtcd(Exception):
    """The request needs history that etcd has compacted."""


class UnsupportedRequest(StoreError):
    """The server does not support this request: it is not etcd, but an adapter for another database, such as kine."""


class _NotForwarded(StoreUnreachable):
    """A member knew no leader to forward a write to, so the write was certainly not carried out."""


T = TypeVar("T")


class SharedTask(Generic[T]):
    """Work that runs once for all callers that wait for it at the same time. A cancelled caller does not cancel it."""

    def __init__(self) -> None:
        self._running: asyncio.Task[T] | None = None

    async def join(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Return the result of the work that runs; start it if none does."""
        if self._running is None:
            self._running = asyncio.get_running_loop().create_task(work())
            self._running.add_done_callback(self._finish_work)
        return await asyncio.shield(self._running)

    def _finish_work(self, finished: asyncio.Task[T]) -> None:
        self._running = None
        if not finished.cancelled():
            finished.exception()  # retrieved so that asyncio does not log it if no caller waits

    async def cancel(self) -> None:
        """Cancel the work if it runs, and wait for its end."""
        if self._running is not None:
            self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)


class EtcdClient:
    """Calls one member of the cluster, and another one if that fails. times: durations by call."""

    def __init__(self, settings: Etcd) -> None:
        self.times = {name: Histogram(BUCKETS) for name in _SERVICES}
        self._settings = settings
        self._member = 0
        self._channel: Channel | None = None
        self._reaching = SharedTask[Channel]()
        self._leaving: dict[Channel, asyncio.TimerHandle] = {}
        self._opened = False
        self._files: tuple[int, ...] = ()
        self._failed = ""

    def open(self) -> None:
        """Prepare for calls. Raises StoreError for unreadable certificates."""
        if self._settings.secure:
            self._make_context()
        self._files = self._read_mtimes()
        self._opened = True

    def _make_context(self) -> ssl.SSLContext:
        settings = self._settings
        try:
            context = ssl.create_default_context(cafile=settings.cafile)
            context.set_alpn_protocols(["h2"])
            if settings.certfile is not None:
                context.load_cert_chain(settings.certfile, settings.keyfile)
        except (OSError, ssl.SSLError) as error:
            named = ", ".join(str(file) for file in (settings.cafile, settings.certfile, settings.keyfile) if file)
            reason = error.strerror if isinstance(error, FileNotFoundError) and error.strerror else str(error)
            raise StoreError(f"{named}: {reason.lower()}") from None
        return context

    def _read_mtimes(self) -> tuple[int, ...]:
        """Return the modification times of the certificate files."""
        mtimes = []
        for path in (self._settings.cafile, self._settings.certfile, self._settings.keyfile):
            try:
                mtimes.append(Path(path).stat().st_mtime_ns if path is not None else 0)
            except OSError:
                mtimes.append(0)
        return tuple(mtimes)

    def reload_certificates(self) -> None:
        """Load changed certificates. Invalid ones are logged, and the connection stays as it is."""
        files = self._read_mtimes()
        if files == self._files:
            return
        self._files = files
        try:
            self._make_context()
        except StoreError as error:
            log.error("etcd: kept the former client certificate: %s", error)
        else:
            self._switch_member(self._member)

    def _switch_member(self, member: int) -> None:
        """Switch to a member, over a new connection. Calls in flight get some time to end."""
        self._member = member % len(self._settings.servers)
        old, self._channel = self._channel, None
        if old is not None:
            old.usable = False
            self._leaving[old] = asyncio.get_running_loop().call_later(_DRAIN_SECONDS, self._close_later, old)
            old.closed.add_done_callback(lambda _: self._remove_old(old))

    def _close_later(self, old: Channel) -> None:
        old.close()
        self._remove_old(old)

    def _remove_old(self, old: Channel) -> None:
        timer = self._leaving.pop(old, None)
        if timer is not None:
            timer.cancel()

    async def close(self) -> None:
        """End all calls."""
        self._opened = False
        await self._reaching.cancel()
        for old in [*self._leaving, *([self._channel] if self._channel is not None else [])]:
            old.close()
            self._remove_old(old)
        self._channel = None

    async def _open_channel(self) -> Channel:
        """Return a usable connection. Raises ChannelError, StoreError."""
        channel = self._channel
        if channel is not None and channel.usable:
            return channel
        if not self._opened:
            raise StoreError("the store is closed")
        return await self._reaching.join(self._connect_channel)

    async def _connect_channel(self) -> Channel:
        settings, loop = self._settings, asyncio.get_running_loop()
        url = urlsplit(settings.servers[self._member])
        channel: Channel | None = None
        try:
            context = self._make_context() if settings.secure else None
            async with asyncio.timeout(_CONNECT_TIMEOUT):
                _, channel = await loop.create_connection(
                    lambda: Channel(url.netloc, secure=settings.secure),
                    url.hostname or "",
                    url.port or _DEFAULT_PORT,
                    ssl=context,
                )
                await channel.ready
        except (OSError, TimeoutError, ssl.SSLError) as error:
            raise ChannelError(rpc.UNAVAILABLE, str(error) or "no answer", unsent=True) from None
        finally:
            if channel is not None and not channel.usable:
                channel.close()
        self._channel = channel
        return channel

    async def _await_answer(self, name: str, message: bytes, until: float) -> bytes:
        """Return the answer to a call. Raises ChannelError, StoreError."""
        channel = self._channel
        if channel is None or not channel.usable:
            channel = await self._open_channel()
        if channel.loop.time() >= until:
            raise ChannelError(rpc.DEADLINE, "no answer in time", unsent=True)
        call = channel.begin_call(_SERVICES[name][0], message)
        call.deadline = until
        try:
            return await call.answer
        finally:
            call.cancel_call()

    def send_request(self, name: str, message: bytes, callback: Callable[[bytes | ChannelError], None]) -> bool:
        """Send a request without waiting: `callback` gets the bytes of the answer as soon as they arrive.

        Returns False if the caller must use `call_etcd`. After an error, the caller repeats the request with
        `call_etcd`.
        """
        channel = self._channel
        if channel is None or not channel.usable or self._failed:
            return False
        began = channel.loop.time()

        def finish_call(outcome: bytes | ChannelError) -> None:
            if isinstance(outcome, bytes):
                self.times[name].observe_seconds(channel.loop.time() - began)
            callback(outcome)

        call = channel.begin_call(_SERVICES[name][0], message)
        call.on_end, call.deadline = finish_call, began + _CALL_TIMEOUT
        channel.flush()
        return True

    async def call_etcd(self, name: str, request: Any, began: float | None = None) -> Any:
        """Return the answer to a request, a message or its bytes.

        began: the loop's time from which the timeout counts (default: now). Raises CompactedByEtcd, and StoreError as
        `_make_error` says.
        """
        loop = asyncio.get_running_loop()
        began = loop.time() if began is None else began
        until = began + _CALL_TIMEOUT
        message = request if isinstance(request, bytes) else request.SerializeToString()
        while True:
            member = self._member
            try:
                answer = _SERVICES[name][1].FromString(await self._await_answer(name, message, until))
            except ChannelError as error:
                refusal = _make_error(error)
                if not isinstance(refusal, StoreUnreachable):
                    raise refusal from None
                self._leave_member(member, f"{refusal} ({error.text})")
                may_retry = name in _READS or error.unsent or isinstance(refusal, _NotForwarded)
                end = min(until, began + _MEMBER_TIMEOUT) if error.unsent else until
                if not may_retry or loop.time() + _RETRY_DELAY >= end:
                    raise refusal from None
                await asyncio.sleep(_RETRY_DELAY)
            else:
                self.times[name].observe_seconds(loop.time() - began)
                if self._failed:
                    log.warning("etcd: answers again")
                    self._failed = ""
                return answer

    def _leave_member(self, member: int, reason: str) -> None:
        """Log the error of a member, and switch to another one unless that has happened already."""
        servers = self._settings.servers
        if not self._failed:
            log.error("etcd: %s: %s; trying again", servers[member % len(servers)], reason)
        self._failed = reason
        if member == self._member and len(servers) > 1:
            self._switch_member(member + 1)

    async def watch_keys(self, create: Any, take: Callable[[Any], bool]) -> None:
        """Pass the messages of a watch to `take`, from its creation on, until `take` returns True.

        Raises the error of `take`, and StoreError if the watch ends.
        """
        member = self._member
        finished: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def take_message(message: bytes) -> None:
            if finished.done():
                return
            try:
                if take(m.WatchResponse.FromString(message)):
                    finished.set_result(None)
            except Exception as error:
                finished.set_exception(error)

        def finish_watch(outcome: bytes | ChannelError) -> None:
            if not finished.done():
                quiet = StoreUnreachable("etcdserver: the watch has ended")
                finished.set_exception(outcome if isinstance(outcome, ChannelError) else quiet)

        call: rpc.ChannelCall | None = None
        try:
            channel = await self._open_channel()
            call = channel.begin_call(_WATCH, m.WatchRequest(create_request=create).SerializeToString(), take_message)
            call.on_end = finish_watch
            await finished
        except ChannelError as error:
            raise self._make_broken_error(member, error) from None
        except m.DecodeError:
            raise StoreError("etcd sent an invalid message") from None
        finally:
            if call is not None:
                call.cancel_call()

    def _make_broken_error(self, member: int, error: ChannelError) -> Exception:
        refusal = _make_error(error)
        if isinstance(refusal, StoreUnreachable):
            self._leave_member(member, f"{refusal} ({error.text})")
        return refusal


def _make_error(error: ChannelError) -> Exception:
    """Return the exception for an error of etcd.

    Only this function reads etcd's error texts, because its codes say less.
    """
    code, text = error.code, error.text
    if code == rpc.OUT_OF_RANGE and "compacted" in text:
        return CompactedByEtcd()
    if code == rpc.DEADLINE:
        return StoreTimeout()
    if code == rpc.EXHAUSTED and "space" in text:
        return StoreFull()
    if "too large" in text or code == rpc.EXHAUSTED:
        return ValueTooLarge()
    if code in (rpc.UNAVAILABLE, rpc.CANCELLED) or "leader" in text or _DROPPED in text:
        kind = _NotForwarded if _DROPPED in text else StoreUnreachable
        return kind(text if text.startswith("etcdserver") else "etcdserver: cannot be reached")
    if code == rpc.INVALID and "unsupported" in text:
        return UnsupportedRequest(text)
    return StoreError(text or f"etcd: error {code} of gRPC")
