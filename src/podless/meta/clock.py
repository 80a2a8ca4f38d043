"""The time as objects carry it."""

from __future__ import annotations

import time

from podless.meta.bounded import bounded_cache


def now(ahead: int = 0) -> str:
    """The present time: RFC 3339, whole seconds, in UTC. ahead: so many seconds later, years at the most."""
    return text(int(time.time()) + min(ahead, _FAR))


_FAR = 1 << 32


def text(second: int) -> str:
    """A second since 1970 as objects carry it."""
    return _moment(second)


@bounded_cache(4)
def _moment(second: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(second))
