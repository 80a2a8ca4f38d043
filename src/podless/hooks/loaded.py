"""The hooks of a server: loaded at its start, and again when their files change."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Coroutine, Iterable, Sequence
from types import ModuleType
from typing import Any

from podless.hooks import CONVERT, DEFAULT, MUTATE, SUBRESOURCE, VALIDATE, Hook, Sources, check_names, find_hooks
from podless.hooks.peer import HookFailed
from podless.hooks.pool import HookParts, LoadFailed, WorkerPool
from podless.runtime.jsonobject import Object

log = logging.getLogger("podless")

_CHECK_INTERVAL = 0.3  # seconds between two checks of the files


class LoadedHooks:
    """The hooks of a server, and the pool of workers that runs them.

    check: raises ValueError for a declaration that the server does not accept. changed: number of loads. on_change:
    called after the hooks were loaded again.
    """

    def __init__(self, sources: Sources, *, reload: bool = False, check: Callable[[Object], None]) -> None:
        self._sources, self._functions = read_sources(sources)
        self._reload = reload
        self._check = check
        self._pool: WorkerPool | None = None
        self._old: list[WorkerPool] = []
        self._watching: asyncio.Task[None] | None = None
        self._file_times: dict[str, float] = {}
        self.changed = 0
        self.on_change: list[Callable[[], None]] = []

    async def start(self) -> None:
        """Load all hooks. Raises LoadFailed."""
        self._pool = await self._load_pool()
        self.changed += 1
        if self._reload and self._sources:
            self._watching = asyncio.get_running_loop().create_task(self._watch_files())

    async def stop(self) -> None:
        """End all workers."""
        if self._watching is not None:
            self._watching.cancel()
            self._watching = None
        for pool in (*self._old, self._pool):
            if pool is not None:
                pool.close()
        self._pool = None

    def list_declarations(self, *kinds: str) -> list[Object]:
        """Return the declarations of these hook kinds, kind by kind, each in the order of definition."""
        declarations = self._pool.declared if self._pool is not None else []
        return [hook for kind in kinds for hook in declarations if hook["kind"] == kind]

    @property
    def mutating(self) -> list[Object]:
        """The hooks that may change objects: first those that set defaults."""
        return self.list_declarations(DEFAULT, MUTATE)

    @property
    def validating(self) -> list[Object]:
        """The hooks that accept or deny objects."""
        return self.list_declarations(VALIDATE)

    def list_conversions(self, resource: str, name: str = "") -> list[Object]:
        """Return the conversion hooks of a definition.

        name: the hook that the definition names, "" if it names none.
        """
        hooks = [hook["given"] for hook in self.list_declarations(CONVERT)]
        return [hook for hook in hooks if (hook["name"] == name if name else hook["resource"] == resource)]

    def list_subresources(self, resource: str) -> list[Object]:
        """Return the hooks that answer subresources of a definition."""
        return [hook["given"] for hook in self.list_declarations(SUBRESOURCE) if hook["given"]["resource"] == resource]

    def call_hook(
        self, kind: str, name: str, question: HookParts, seconds: float, meanwhile: Callable[[], object] | None = None
    ) -> Coroutine[Any, Any, bytes | None]:
        """Call a hook. Return its answer; None if a reload removed the hook. question: its three parts (hooks/wire.py).

        seconds: the timeout. It includes waiting for a free worker, but not the start of the first one. meanwhile:
        short work that is due anyway and raises nothing. It is done while the thread would wait for the answer, and is
        not done if the event loop goes on meanwhile. The call and the coroutine raise HookFailed.
        """
        if self._pool is None:
            raise HookFailed("the server is stopping")
        return self._pool.ask_hook(kind, name, question, seconds, meanwhile)

    async def _load_pool(self) -> WorkerPool:
        pool = WorkerPool(self._sources, self._functions)
        try:
            await pool.load_hooks()
            for declaration in pool.declared:
                self._check(declaration)
        except ValueError as error:
            pool.close()
            raise LoadFailed(str(error)) from None
        except BaseException:
            pool.close()
            raise
        self._file_times = _read_times(pool.files)
        return pool

    async def load_again(self) -> None:
        """Load all hooks again; calls in progress use the former ones. Raises LoadFailed, and changes nothing then."""
        pool = await self._load_pool()
        if self._pool is not None:
            self._old.append(self._pool)
        self._pool = pool
        self.changed += 1
        for listener in self.on_change:
            listener()
        self._close_idle()

    def _close_idle(self) -> None:
        """End workers of earlier loads that are idle, and check the others again later."""
        for pool in [pool for pool in self._old if pool.is_quiet]:
            pool.close()
            self._old.remove(pool)
        if self._old:
            asyncio.get_running_loop().call_later(_CHECK_INTERVAL, self._close_idle)

    async def _watch_files(self) -> None:
        while True:
            await asyncio.sleep(_CHECK_INTERVAL)
            now = _read_times(self._file_times)
            if now == self._file_times:
                continue
            self._file_times = now
            try:
                await self.load_again()
                log.info("hooks: reloaded: %s", ", ".join(self._sources))
            except LoadFailed as failed:
                log.error("hooks: cannot reload, the former code stays in use: %s", failed)


def _read_times(files: Iterable[str]) -> dict[str, float]:
    """Return the modification time of each file; 0.0 for a missing one."""
    times = {}
    for file in files:
        try:
            times[file] = os.stat(file).st_mtime
        except OSError:
            times[file] = 0.0
    return times


def read_sources(hooks: Sources) -> tuple[list[str], list[Hook]]:
    """Return the files and modules to load in workers, and the hooks of this process.

    Raises ValueError if both are given.
    """
    items: Sequence[Any]
    if isinstance(hooks, str | os.PathLike | ModuleType) or callable(hooks):
        items = [hooks]
    else:
        items = list(hooks)
    sources = [os.fspath(item) for item in items if isinstance(item, str | os.PathLike)]
    functions: list[Hook] = []
    for item in items:
        if isinstance(item, ModuleType):
            functions += find_hooks(vars(item))
        elif not isinstance(item, str | os.PathLike):
            hooks_found = find_hooks({"": item})
            if not hooks_found:
                raise ValueError(f"{item!r} is no hook: decorate it with podless.hooks.validate, mutate, ...")
            functions += hooks_found
    if sources and functions:
        raise ValueError("hooks are either files and modules, or functions of this program")
    check_names(functions)
    return sources, functions
