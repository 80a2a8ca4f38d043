"""A server inside a Python program, for tests and for programs that embed the API."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import functools
import inspect
import logging
import os
import threading
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

from podless.app import App, Settings
from podless.client import Client
from podless.http.faults import Faults
from podless.http.record import RecentRequests
from podless.runtime import system
from podless.runtime.arguments import bind_arguments
from podless.runtime.clock import CURRENT, Clock
from podless.testing.ask import Direct
from podless.testing.client import AdminClient
from podless.testing.time import ServerTime

if TYPE_CHECKING:
    from podless.explore import Report, Scenario


P = ParamSpec("P")
T = TypeVar("T")


def _sign_as(declared: Callable[P, object]) -> Callable[[Callable[..., None]], Callable[Concatenate[Server, P], None]]:
    """Give a method the signature of a declared callable."""

    def decorate(method: Callable[..., None]) -> Callable[Concatenate[Server, P], None]:
        signature = inspect.signature(declared)
        itself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        parameters = [itself, *signature.parameters.values()]
        method.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        return method

    return decorate


def _run_blocking(
    method: Callable[Concatenate[AdminClient, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[Server, P], T]:
    """Return a client's method for synchronous code: it runs on the server's loop, and the caller waits for it."""

    @functools.wraps(method)
    def run_method(self: Server, /, *args: P.args, **options: P.kwargs) -> T:
        return self._run_coroutine(method(self.client, *args, **options))

    return run_method


class Server:
    """A podless server (default: in memory, on a free port).

    `with` runs it in a separate thread, for synchronous code; `async with` runs it on the caller's event loop. Any
    number of servers can run in one process.

        with Server() as server:
            print(server.url, server.token, server.kubeconfig)

    In synchronous code, use the methods of the server (apply, wait, snapshot ...), which are those of
    podless.testing.AdminClient without `await`; in asynchronous code, use `client`. requests: the requests of clients,
    without those of these methods. faults: makes requests of clients fail.

    The arguments are the fields of podless.app.Settings, data first: `Server("folder", event_ttl=60.0)`. Raises
    StartError for invalid settings, and on entry if the server cannot start; TypeError for unknown arguments.
    """

    @_sign_as(Settings)
    def __init__(self, *args: Any, **options: Any) -> None:
        self._settings = Settings(**bind_arguments(Settings, "Server", args, options))
        self.requests = RecentRequests()
        self.faults = Faults()
        self._clock = Clock()
        self._context = contextvars.copy_context()
        self._context.run(CURRENT.set, self._clock)
        self._app: App | None = None
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping: asyncio.Event | None = None

    @property
    def url(self) -> str:
        """The address of the server, such as https://127.0.0.1:6443."""
        return self._get_app().url

    @property
    def token(self) -> str:
        """The administrator's bearer token."""
        return self._get_app().token

    @property
    def kubeconfig(self) -> Path:
        """The path of the administrator's kubeconfig. That of a server in memory is deleted when it stops."""
        return self._get_app().kubeconfig

    @property
    def authority(self) -> Path:
        """The path of the CA certificate that clients verify the server with."""
        return self._get_app().authority

    @property
    def chaos(self) -> int | None:
        """The seed of the chaos; None if there is none."""
        return self._get_app().chaos

    def make_console_link(self) -> str:
        """Return a URL that logs in the administrator to the console once, within ten minutes.

        "" for a server without `console=True`.
        """
        links: list[str] = []
        self._run_on_server(lambda: links.append(self._get_app().make_console_link()))
        return links[0]

    def _get_app(self) -> App:
        if self._app is None or not self._app.url:
            raise RuntimeError("the server is not running; use it as a context manager")
        return self._app

    def _reject_running(self) -> None:
        if self._app is not None and self._app.url:
            raise RuntimeError("the server is already running")

    async def __aenter__(self) -> Self:
        self._reject_running()
        self._loop = asyncio.get_running_loop()
        self._app = App(self._settings, (), self.faults, self.requests)
        # the server's tasks inherit this context, and with it the clock
        await self._loop.create_task(self._app.start(), context=self._context.copy())
        assert self._app.cluster is not None
        self._app.cluster.api.watchdog.level = logging.INFO  # the program has work of its own for the processor
        return self

    async def __aexit__(self, *error: object) -> None:
        if self._app is not None:
            await self._app.stop()
            self._app = None

    def __enter__(self) -> Self:
        self._reject_running()
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

    def __exit__(self, *error: object) -> None:
        if self._loop is not None and self._stopping is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._stopping.set)
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _run(self, started: concurrent.futures.Future[None]) -> None:
        with asyncio.Runner(loop_factory=system.new_event_loop) as runner:
            runner.run(self._serve_until_stopped(started))

    async def _serve_until_stopped(self, started: concurrent.futures.Future[None]) -> None:
        self._stopping = asyncio.Event()
        try:
            await self.__aenter__()
        except BaseException as error:
            started.set_exception(error)
            return
        started.set_result(None)
        await self._stopping.wait()
        await self.__aexit__(None, None, None)

    # for tests

    @property
    def client(self) -> AdminClient:
        """The client for asynchronous code, usable on any event loop."""
        app = self._get_app()
        assert self._loop is not None
        return AdminClient(app, self._loop, self._context, self.requests)

    @property
    def typed(self) -> Client:
        """The typed client of podless.client, usable on any event loop. It uses no network."""
        app = self._get_app()
        assert self._loop is not None
        return Client(Direct(app, self._loop, self._context))

    @property
    def clock(self) -> ServerTime:
        """The clock of the server: `server.clock.advance(hours=1)`."""
        return ServerTime(self._clock, self._run_on_server)

    def _run_on_server(self, work: Callable[[], None]) -> None:
        """Run a function on the server's thread, and wait for it."""

        async def run_in_context() -> None:
            self._context.copy().run(work)

        if self._thread is None or self._thread is threading.current_thread():
            self._context.copy().run(work)
        else:
            self._run_coroutine(run_in_context())

    def _run_coroutine(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the server's loop, and wait for its result. Raises RuntimeError on that thread."""
        if self._thread is None or self._loop is None or self._thread is threading.current_thread():
            work.close()
            raise RuntimeError("on the server's own loop use `await server.client...`")
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    apply = _run_blocking(AdminClient.apply)
    create = _run_blocking(AdminClient.create)
    get = _run_blocking(AdminClient.get)
    list = _run_blocking(AdminClient.list)
    patch = _run_blocking(AdminClient.patch)
    delete = _run_blocking(AdminClient.delete)
    history = _run_blocking(AdminClient.history)
    stories = _run_blocking(AdminClient.stories)
    wait = _run_blocking(AdminClient.wait)
    at_rest = _run_blocking(AdminClient.at_rest)
    snapshot = _run_blocking(AdminClient.snapshot)
    restore = _run_blocking(AdminClient.restore)

    def explore(
        self, command: str | Sequence[str], scenario: Scenario | str | os.PathLike[str], **options: Any
    ) -> Report:
        """Search for schedules that break a controller, and return the report.

        Each run starts from the current state of this server, on a server of its own. options: those of
        `podless.explore.explore_controller`, such as runs=100. The report's `passed` is True if nothing was found;
        `str(report)` is the output of `podless explore`.
        """
        from podless.explore import explore_controller

        settings = {"kubernetes_version": self._settings.kubernetes_version}
        return explore_controller(command, scenario, start=self.snapshot(), settings=settings, **options)
