"""Runs the client in a process of its own, so that it does not share an interpreter with what is measured."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from types import TracebackType
from typing import ParamSpec, Self, TypeVar

from bench.load import client
from bench.load.client import Ask, Fan, Load, Target

P = ParamSpec("P")
T = TypeVar("T")


class Driver:
    """The client's process; a context manager."""

    def __enter__(self) -> Self:
        self._pool = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown()

    def _run(self, work: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
        return self._pool.submit(work, *arguments, **named).result()

    def hammer(
        self,
        target: Target,
        ask: Ask,
        connections: int,
        seconds: float = 1e9,
        most: int = 1 << 40,
        other: tuple[Ask, int] | None = None,
    ) -> Load:
        """client.hammer."""
        return self._run(client.hammer, target, ask, connections, seconds, most, other)

    def fanout(
        self, target: Target, watch: Ask, write: Ask, watchers: int, updates: int, server: int, single: int = 5
    ) -> Fan:
        """client.fanout."""
        return self._run(client.fanout, target, watch, write, watchers, updates, server, single)

    def version(self, target: Target, path: str) -> str:
        """client.version."""
        return self._run(client.version, target, path)
