"""Compiles what work off the loop needs of a kind, before the kind's first long object."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from podless.kinds.kind import Kind, Version
from podless.kinds.late import LateKind
from podless.runtime import lazy
from podless.verbs import fieldmanager
from podless.verbs.call import API

if TYPE_CHECKING:
    from podless.fields import strategic
else:
    strategic = lazy.LateModule("podless.fields.strategic")


@asynccontextmanager
async def keep_ready(api: API, kind: Kind, subresource: str = "") -> AsyncIterator[None]:
    """Compile what work off the loop needs of a kind and its subresource's kind; keep it within this context.

    Compiling large schemas takes long, so it runs off the loop, once for all waiting requests. The loop publishes the
    result. Raises Timeout.
    """
    kind.strategy.form.pin()
    try:
        subresource_info = kind.find_subresource(subresource) if subresource else None
        for needed in (kind, subresource_info.kind if subresource_info is not None else None):
            if needed is not None:
                await make_ready(api, needed)
        yield
    finally:
        kind.strategy.form.unpin()


async def load_kind(api: API, kind: Kind) -> None:
    """Import the rules and fields of a built-in kind off the loop, before its first use. Raises TooManyRequests."""
    if isinstance(kind, LateKind) and not kind.is_loaded:
        publish = await api.off_loop.run_on_thread(kind.load)
        publish()


async def make_ready(api: API, kind: Kind) -> None:
    """Compile everything that work off the loop needs of a kind. Outside `keep_ready` it can be dropped at any time."""
    if not kind.is_complete:
        under_way = api.readying.get(kind)
        if under_way is None:
            under_way = api.readying[kind] = asyncio.ensure_future(_make_ready(api, kind))
            under_way.add_done_callback(_retrieve_exception)
        await asyncio.shield(under_way)


async def _make_ready(api: API, kind: Kind) -> None:
    kind.strategy.form.pin()
    try:
        publish = await api.off_loop.run_on_thread(_complete_kind, kind)
        publish()
    finally:
        kind.strategy.form.unpin()
        del api.readying[kind]


def _retrieve_exception(future: asyncio.Future[None]) -> None:
    """Retrieve the exception of a future, so that asyncio does not log it if no caller waits any more."""
    if not future.cancelled():
        future.exception()


def _complete_kind(kind: Kind) -> Callable[[], None]:
    return kind.complete(
        kind.strategy.load_rules, lambda: fieldmanager.complete_kind(kind), lambda: _merge_tables(kind)
    )


def _merge_tables(kind: Kind) -> None:
    for version in kind.versions:
        if kind.struct_of(version) is not None:
            get_merge_table(kind, version)


def get_merge_table(kind: Kind, version: Version) -> strategic.Table:
    """Return the lists of a built-in kind that a strategic merge patch merges."""
    struct = kind.struct_of(version)
    assert struct is not None, f"{kind.kind} is not a built-in kind"
    return kind.derive(("merged", version.name), lambda: strategic.make_merge_table(struct))
