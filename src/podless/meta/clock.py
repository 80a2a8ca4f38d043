"""The time as objects carry it."""

from __future__ import annotations

import time

from podless.meta.bounded import bounded_cache


def now() -> str:
    """The present time: RFC 3339, whole seconds, in UTC."""
    return _moment(int(time.time()))


@bounded_cache(4)
def _moment(second: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(second))
