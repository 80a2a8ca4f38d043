"""Commits one behind the other, for engines that make each durable by itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from podless.store.contract import FOLLOWING, Operation, StoreError


async def commit_chain(
    commit: Callable[[Sequence[Operation]], Awaitable[int]], commits: Sequence[Sequence[Operation]]
) -> list[int]:
    """What `Store.chain` says. Others may write in between; the commit after that fails, and is the end."""
    revisions = [await commit(commits[0])]
    for operations in commits[1:]:
        last = revisions[-1]
        behind = [one._replace(expect=last) if one.expect == FOLLOWING else one for one in operations]
        try:
            revisions.append(await commit(behind))
        except StoreError:
            break
    return revisions
