"""Chooses the hooks that the event loop's thread waits for: those that have answered quickly."""

from __future__ import annotations

from podless.hooks import SUBRESOURCE
from podless.hooks.peer import DIRECT, WAIT
from podless.runtime.jsonobject import Object

_QUICK_ANSWER = 0.0005  # seconds from question to answer; faster hooks earn credit
_MAX_QUESTION = 1 << 15 if DIRECT else 0  # maximum bytes of a question for whose answer the thread waits
_MIN_TIMEOUT = 1.0  # minimum seconds of the timeout of such a question
_MISSED = 0.002  # seconds that a missing answer costs
_MIN_CREDIT, _MAX_CREDIT = 0.001, 0.01  # initial and maximum credit in seconds
# seconds for which a hook without credit is awaited; doubled each time, up to the maximum
_PAUSE, _MAX_PAUSE = 0.05, 60.0


class DeclaredHook:
    """A declared hook. index: among all hooks. shares: for its calls while it is quick; see `HookCall`.

    The loop's thread waits for the answers of quick hooks, because the way back through the event loop (a poll, cold
    caches) costs more than the hook. credit: seconds by which earlier answers were faster than `_QUICK_ANSWER`; without
    credit, calls are awaited for a while. awaited_until: by the monotonic clock. pause: the next one, in seconds.
    """

    __slots__ = ("awaited_until", "credit", "index", "is_async", "pause", "shares")

    def __init__(self, index: int, declared: Object) -> None:
        self.index = index
        self.is_async: bool = declared["async"]
        # a call that waits too long is sent to a second worker; only hooks without side effects may run twice
        self.shares = declared["kind"] != SUBRESOURCE
        self.awaited_until = 0.0
        self.credit = _MIN_CREDIT
        self.pause = _PAUSE

    def is_quick(self, frame: bytes, seconds: float, now: float) -> bool:
        """Return whether the thread waits for the answer. seconds: the timeout."""
        return len(frame) <= _MAX_QUESTION and seconds >= _MIN_TIMEOUT and now >= self.awaited_until

    def add_wait(self, seconds: float, now: float, *, answered: bool) -> None:
        """Count a call for which the thread waited."""
        if answered and seconds < _QUICK_ANSWER and self.credit >= _MAX_CREDIT and self.pause <= _PAUSE:
            return  # the most frequent case
        # limited to WAIT: a longer time only shows that the machine was busy
        self.credit += _QUICK_ANSWER - (min(seconds, WAIT) if answered else _MISSED)
        if self.credit < 0:
            self.credit = _MIN_CREDIT
            self.awaited_until = now + self.pause
            self.pause = min(self.pause * 2, _MAX_PAUSE)
        elif seconds < _QUICK_ANSWER:
            self.pause = max(self.pause / 2, _PAUSE)
            self.credit = min(self.credit, _MAX_CREDIT)
