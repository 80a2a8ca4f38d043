"""A server inside a Python program, for tests and for programs that embed the API."""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from podless.app import App, Settings, StartError
from podless.auth.access import OIDC, Access
from podless.auth.tokens import BadTokenFile
from podless.http.audit.settings import Audit
from podless.http.limits import Limits

__all__ = ["Server", "StartError"]


class Server:
    """A podless server, in memory and on a free port unless told otherwise.

    As a context manager it runs in a thread of its own, so that synchronous code can talk to it; as an asynchronous
    one it runs on the caller's event loop. Any number of servers can run in one process.

        with Server() as server:
            print(server.url, server.token, server.kubeconfig)

    data: a folder to keep everything in; None keeps nothing. bind, port, tls, token_file: as for `podless serve`.
    services: where webhooks behind a Service are, as {"namespace/name": "host:port"}.
    runtime_config: older APIs to be served, such as {"apiextensions.k8s.io/v1beta1": True}.
    garbage_delay: seconds until an object that has lost its owners goes; None: it stays, as without controllers.
    event_ttl: seconds that an event stays after its last write. default_accounts: each namespace has the service
    account "default". root_configmaps: each namespace has the config map kube-root-ca.crt.
    authorization: RBAC, or AlwaysAllow for everything to everybody that is known. anonymous: whether requests that do
    not say whose they are get as far as authorization. client_ca: a file of authorities whose client certificates are
    good, beside those of the server's own. oidc: an OpenID Connect provider (podless.OIDC). audit: where
    the audit log goes (podless.Audit). limits: what clients may cost (podless.Limits).
    Raises StartError on entry where the server cannot start.
    """

    def __init__(
        self,
        data: str | os.PathLike[str] | None = None,
        *,
        bind: str = "127.0.0.1",
        port: int = 0,
        tls: bool = True,
        token_file: str | os.PathLike[str] | None = None,
        services: Mapping[str, str] | None = None,
        garbage_delay: float | None = 1.0,
        event_ttl: float = 3600.0,
        default_accounts: bool = True,
        root_configmaps: bool = False,
        runtime_config: Mapping[str, bool] | None = None,
        authorization: str = "RBAC",
        anonymous: bool = True,
        client_ca: str | os.PathLike[str] | None = None,
        oidc: OIDC | None = None,
        audit: Audit | None = None,
        limits: Limits | None = None,
    ) -> None:
        self._settings = Settings(
            data=Path(data) if data is not None else None,
            bind=bind,
            port=port,
            tls=tls,
            token_file=Path(token_file) if token_file is not None else None,
            services=dict(services or {}),
            garbage_delay=garbage_delay,
            event_ttl=event_ttl,
            default_accounts=default_accounts,
            root_configmaps=root_configmaps,
            runtime_config=dict(runtime_config or {}),
            audit=audit,
            limits=limits if limits is not None else Limits(),
            access=Access(authorization, anonymous, Path(client_ca) if client_ca is not None else None, oidc),
        )
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
        return self._running().kubeconfig.with_name("ca.crt")

    def _running(self) -> App:
        if self._app is None or not self._app.url:
            raise RuntimeError("the server is not running; use it as a context manager")
        return self._app

    async def __aenter__(self) -> Self:
        self._app = App(self._settings)
        try:
            await self._app.start()
        except BadTokenFile as error:
            await self._app.stop()
            raise StartError(str(error)) from None
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
