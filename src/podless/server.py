"""A server inside a Python program, for tests and for programs that embed the API."""

from __future__ import annotations

import asyncio
import concurrent.futures
import inspect
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self

from podless.app import App, Settings, StartError
from podless.auth.access import OIDC
from podless.http.audit.settings import Audit
from podless.http.limits import Limits

__all__ = ["OIDC", "Audit", "Limits", "Server", "StartError"]


P = ParamSpec("P")


def _takes(declared: Callable[P, object]) -> Callable[[Callable[..., None]], Callable[Concatenate[Server, P], None]]:
    """Say that a method takes what a declaration declares."""

    def decorate(method: Callable[..., None]) -> Callable[Concatenate[Server, P], None]:
        signature = inspect.signature(declared)
        itself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        parameters = [itself, *signature.parameters.values()]
        method.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        return method

    return decorate


class Server:
    """A podless server, in memory and on a free port unless told otherwise.

    As a context manager it runs in a thread of its own, so that synchronous code can talk to it; as an asynchronous
    one it runs on the caller's event loop. Any number of servers can run in one process.

        with Server() as server:
            print(server.url, server.token, server.kubeconfig)

    It takes what podless.app.Settings has, data first: `Server("folder", event_ttl=60.0)`. Raises StartError for what
    cannot work, or on entry where the server cannot start.
    """

    @_takes(Settings)
    def __init__(self, *args: Any, **options: Any) -> None:
        self._settings = Settings(*args, **options)
        self._app: App | None = None
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping: asyncio.Event | None = None

    @property
    def url(self) -> str:
        """Where the server is, such as https://127.0.0.1:6443."""
        return self._running().url

    @property
    def token(self) -> str:
        """The admin's bearer token."""
        return self._running().token

    @property
    def kubeconfig(self) -> Path:
        """A kubeconfig file of the admin; it goes with an in-memory server."""
        return self._running().kubeconfig

    @property
    def authority(self) -> Path:
        """The CA certificate that clients verify the server with."""
        return self._running().authority

    def _running(self) -> App:
        if self._app is None or not self._app.url:
            raise RuntimeError("the server is not running; use it as a context manager")
        return self._app

    async def __aenter__(self) -> Self:
        self._app = App(self._settings)
        await self._app.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._app is not None:
            await self._app.stop()
            self._app = None

    def __enter__(self) -> Self:
        started: concurrent.futures.Future[None] = concurrent.futures.Future()
        self._thread = threading.Thread(target=self._run, args=(started,), name="podless", daemon=True)
        self._thread.start()
        try:
            started.result()
        except BaseException:
            self._thread.join()
            self._thread = None
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._loop is not None and self._stopping is not None:
            self._loop.call_soon_threadsafe(self._stopping.set)
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _run(self, started: concurrent.futures.Future[None]) -> None:
        import uvloop

        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(self._serve(started))

    async def _serve(self, started: concurrent.futures.Future[None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._stopping = asyncio.Event()
        try:
            await self.__aenter__()
        except BaseException as error:
            started.set_exception(error)
            return
        started.set_result(None)
        await self._stopping.wait()
        await self.__aexit__(None, None, None)
