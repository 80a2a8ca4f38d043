"""The hooks of a server: loaded at its start, and again when their files change."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Coroutine, Iterable, Sequence
from types import ModuleType
from typing import Any

from podless.hooks import CONVERT, DEFAULT, MUTATE, SUBRESOURCE, VALIDATE, Hook, check_names, find_hooks
from podless.hooks.peer import HookFailed
from podless.hooks.pool import LoadFailed, Parts, Pool
from podless.runtime.jsonobject import Object

log = logging.getLogger("podless")

# files (*.py), names of modules, modules, or decorated functions
Sources = str | os.PathLike[str] | ModuleType | Callable[..., Any] | Iterable[Any]
_LOOK = 0.3  # seconds between two checks of the files


class LoadedHooks:
    """The hooks of a server, and the pool of workers that runs them.

    check: raises ValueError for a declaration that the server does not accept. generation: number of loads. on_change:
    called after the hooks were loaded again.
    """

    def __init__(self, given: Sources, *, reload: bool = False, check: Callable[[Object], None]) -> None:
        self._sources, self._own = read_sources(given)
        self._reload = reload
        self._check = check
        self._pool: Pool | None = None
        self._old: list[Pool] = []
        self._watching: asyncio.Task[None] | None = None
        self._seen: dict[str, float] = {}
        self.generation = 0
        self.on_change: list[Callable[[], None]] = []

    async def start(self) -> None:
        """Load all hooks. Raises LoadFailed."""
        self._pool = await self._load()
        self.generation += 1
        if self._reload and self._sources:
            self._watching = asyncio.get_running_loop().create_task(self._watch())

    async def stop(self) -> None:
        """End all workers."""
        if self._watching is not None:
            self._watching.cancel()
            self._watching = None
        for pool in (*self._old, self._pool):
            if pool is not None:
                pool.close()
        self._pool = None

    def declared(self, *kinds: str) -> list[Object]:
        """Return the declarations of these hook kinds, kind by kind, each in the order of definition."""
        known = self._pool.declared if self._pool is not None else []
        return [one for kind in kinds for one in known if one["kind"] == kind]

    @property
    def mutating(self) -> list[Object]:
        """The hooks that may change objects: first those that set defaults."""
        return self.declared(DEFAULT, MUTATE)

    @property
    def validating(self) -> list[Object]:
        """The hooks that accept or deny objects."""
        return self.declared(VALIDATE)

    def converting(self, resource: str, named: str = "") -> list[Object]:
        """Return the conversion hooks of a definition.

        named: the hook that the definition names, "" if it names none.
        """
        known = [one["given"] for one in self.declared(CONVERT)]
        return [one for one in known if (one["name"] == named if named else one["resource"] == resource)]

    def answering(self, resource: str) -> list[Object]:
        """Return the hooks that answer subresources of a definition."""
        return [one["given"] for one in self.declared(SUBRESOURCE) if one["given"]["resource"] == resource]

    def call(
        self, kind: str, name: str, parts: Parts, seconds: float, meanwhile: Callable[[], object] | None = None
    ) -> Coroutine[Any, Any, bytes | None]:
        """Call a hook. Return its answer; None if a reload removed the hook. parts: the question.

        seconds: the timeout. It includes waiting for a free worker, but not the start of the first one. meanwhile:
        short work that is due anyway and raises nothing. It is done while the thread would wait for the answer, and is
        not done if the event loop goes on meanwhile. The call and the coroutine raise HookFailed.
        """
        if self._pool is None:
            raise HookFailed("the server is stopping")
        return self._pool.ask(kind, name, parts, seconds, meanwhile)

    async def _load(self) -> Pool:
        pool = Pool(self._sources, self._own)
        try:
            await pool.open()
            for one in pool.declared:
                self._check(one)
        except ValueError as error:
            pool.close()
            raise LoadFailed(str(error)) from None
        except BaseException:
            pool.close()
            raise
        self._seen = _times(pool.files)
        return pool

    async def load_again(self) -> None:
        """Load all hooks again; calls in progress use the former ones. Raises LoadFailed, and changes nothing then."""
        pool = await self._load()
        if self._pool is not None:
            self._old.append(self._pool)
        self._pool = pool
        self.generation += 1
        for told in self.on_change:
            told()
        self._retire()

    def _retire(self) -> None:
        """End workers of earlier loads that are idle, and check the others again later."""
        for pool in [pool for pool in self._old if pool.is_quiet]:
            pool.close()
            self._old.remove(pool)
        if self._old:
            asyncio.get_running_loop().call_later(_LOOK, self._retire)

    async def _watch(self) -> None:
        """Load the hooks again when one of their files has changed."""
        while True:
            await asyncio.sleep(_LOOK)
            now = _times(self._seen)
            if now == self._seen:
                continue
            self._seen = now
            try:
                await self.load_again()
                log.info("hooks: reloaded: %s", ", ".join(self._sources))
            except LoadFailed as failed:
                log.error("hooks: cannot reload, the former code stays in use: %s", failed)


def _times(files: Iterable[str]) -> dict[str, float]:
    """Return the modification time of each file; 0.0 for a missing one."""
    found = {}
    for file in files:
        try:
            found[file] = os.stat(file).st_mtime
        except OSError:
            found[file] = 0.0
    return found


def read_sources(given: Sources) -> tuple[list[str], list[Hook]]:
    """Return the files and modules to load in workers, and the hooks of this process.

    Raises ValueError if both are given.
    """
    items: Sequence[Any]
    if isinstance(given, str | os.PathLike | ModuleType) or callable(given):
        items = [given]
    else:
        items = list(given)
    sources = [os.fspath(item) for item in items if isinstance(item, str | os.PathLike)]
    own: list[Hook] = []
    for item in items:
        if isinstance(item, ModuleType):
            own += find_hooks(vars(item))
        elif not isinstance(item, str | os.PathLike):
            found = find_hooks({"": item})
            if not found:
                raise ValueError(f"{item!r} is no hook: decorate it with podless.hooks.validate, mutate, ...")
            own += found
    if sources and own:
        raise ValueError("hooks are either files and modules, or functions of this program")
    check_names(own)
    return sources, own
