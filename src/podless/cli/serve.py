"""podless serve: run a server until it is stopped."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import json
import logging
import os
import signal
import sys
import threading
from importlib import import_module
from pathlib import Path

from podless.app import App, Settings, certificate_maker
from podless.cli import options
from podless.runtime import system
from podless.runtime.collector import Collector
from podless.version import __version__

log = logging.getLogger("podless")


add_options = options.add_options


class JSONLines(logging.Formatter):
    """Formats log records as JSON lines, like Kubernetes' own components."""

    def format(self, record: logging.LogRecord) -> str:
        entry = {"ts": round(record.created * 1000, 3), "level": record.levelname.lower(), "msg": record.getMessage()}
        if record.exc_info:
            entry["trace"] = self.formatException(record.exc_info)
        return json.dumps(entry)


def run(args: argparse.Namespace) -> int:
    """Serve until SIGTERM or SIGINT. Returns 1, with one line on standard error, if the start fails."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(levelname)s %(message)s") if sys.stderr.isatty() else JSONLines())
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    gc.disable()  # until the start is complete, because almost nothing is garbage before
    try:
        settings = options.read_settings(args)
        with contextlib.ExitStack() as opened:
            if args.at:
                from tempfile import TemporaryDirectory

                from podless.cli.past import settle_past

                scratch = opened.enter_context(TemporaryDirectory(prefix="podless-at-"))
                settings = settle_past(settings, args.at, Path(scratch))
            _create_certificates(settings)
            opened.enter_context(options.name_options(args))
            with asyncio.Runner(loop_factory=system.new_event_loop) as runner:
                runner.run(_serve_until_signal(settings))
    finally:
        gc.enable()
    return 0


def _create_certificates(settings: Settings) -> None:
    """Create the certificates of a first start in a child process, because the libraries for that take 12 MB.

    If that fails, the start fails, too, and reports the error.
    """
    make = certificate_maker(settings)
    if make is None or sys.platform != "linux":  # on other systems, a child process cannot use the parent's open files
        return
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        make()
    finally:
        os._exit(0)


def _reopen_audit_log(app: App) -> None:
    try:
        app.reopen()
    except OSError as error:
        log.error("audit: cannot open the log again: %s: %s", error.filename, error.strerror)


async def _serve_until_signal(settings: Settings) -> None:
    loop = asyncio.get_running_loop()
    sys.setswitchinterval(_SWITCH)
    stop = asyncio.Event()

    def handle_signal(name: str) -> None:
        log.info("stop: received %s: finishing the requests in flight", name)
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, handle_signal, number.name)
    system.raise_file_limit()
    app = App(settings)
    await app.start()
    if hasattr(signal, "SIGHUP"):
        loop.add_signal_handler(signal.SIGHUP, _reopen_audit_log, app)
    collector = Collector()
    collector.start()
    if not sys.stderr.isatty():  # in a terminal, the lines below are enough
        storage = "in memory" if settings.data is None else f"in {settings.data}"
        state = "in etcd" if settings.is_shared else storage
        log.info(
            "start: podless %s serves %s as Kubernetes %s: data %s", __version__, app.url, settings.release.name, state
        )
    print(f"podless serves {app.url}", flush=True)
    print(f"export KUBECONFIG={app.kubeconfig}", flush=True)
    if settings.console:
        print(f"console: {app.make_console_link()}", flush=True)
    if app.chaos is not None:
        print(f"NOTE: {options.chaos_notice(app.chaos)}", flush=True)
    if not settings.loopback and settings.authorization == "AlwaysAllow":
        print(
            f"WARNING: {settings.bind} is open to other machines, and every authenticated user may do everything",
            flush=True,
        )
    if not settings.tls and settings.authorization != "AlwaysAllow":
        print("NOTE: kubectl and other Go clients send no token over plain HTTP, so they are anonymous", flush=True)
    threading.Thread(
        target=_import_early, args=(settings,)
    ).start()  # not a daemon thread, because the process must not end during an import
    await stop.wait()
    await app.stop()
    collector.stop()
    log.info("stop: stopped")


# seconds that other threads may keep the GIL from the loop, which needs it again for each socket
_SWITCH = 0.0001
_M_MMAP_THRESHOLD = -3  # from malloc.h
_LARGE = 192 << 10  # bytes
_PRELOADED = (
    "apis.apiextensions.definition.validate", "apis.apiextensions.definition.fill", "apis.offline", "cel.rules",
    "schema.compile", "publish.table", "apis.core.pods",
)  # fmt: skip
_LOGIN = ("aiohttp", "jwt")  # for the first token of an OpenID Connect provider


def _import_early(settings: Settings | None = None) -> None:
    """Import modules for the first definition, table, pod and login: importing takes longest there."""
    for name in _PRELOADED:
        import_module(f"podless.{name}")
    if settings is not None and settings.oidc is not None:
        for name in _LOGIN:
            import_module(name)
    _map_large()


def _map_large() -> None:
    """Make glibc map each large block separately, and return it to the system when it is freed.

    Otherwise glibc raises its threshold with each large block that is freed, up to 32 MiB. TLS buffers of connections
    (256 KiB each, mostly unused) then reuse the memory of freed bodies and keep it resident.
    """
    import ctypes

    with contextlib.suppress(OSError, AttributeError):  # not glibc
        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _LARGE)
