"""History in both engines: its bounds by age, size and number of changes, its clock, and the compression of states.

The first limit reached applies.
"""

from __future__ import annotations

import zlib
from collections import deque
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import field, replace

from podless.runtime import clock
from podless.runtime.dataclass import dataclass
from podless.runtime.option import parse_duration, parse_number, parse_size
from podless.store import keys

_SPANS = 32  # number of steps in which the history within the bounds is forgotten, approximately
_MAX_STEP = 500  # maximum revisions that one step forgets
_LEVEL = 1  # zlib's level; at level 6 states were 4% smaller and took twice as long
_UNMATCHED_BYTES = 262  # bytes at the start of zlib's window in which it finds no matches
_NARROWEST, _WIDEST = 9, 15  # log2 of the window size
# zlib allocates, clears and frees its tables for each state. With default sizes (15 and 8) the C library returned the
# memory to the system each time, and a state of 750 bytes took up to six times as long.
_SMALL_MEMORY, _LARGE_MEMORY = 5, 6  # memLevel for values below 4 KiB, and for longer ones


@dataclass(frozen=True, slots=True)
class Keep:
    """Bounds for replaced states. age: seconds. size: bytes. count: revisions."""

    age: float = 3600.0
    size: int = 256 << 20
    count: int = 10_000


def is_exceeded(keep: Keep, count: int, size: int, age: float) -> bool:
    """Return whether some changes exceed bounds. size: their bytes. age: of the oldest one, in milliseconds."""
    return count > keep.count or size > keep.size or age > keep.age * 1000


LOG_BOUNDS = Keep(720 * 3600.0, 1 << 30, 1_000_000)  # default bounds of the history log


def parse_keep(text: str, default: Keep | None = None) -> Keep:
    """Return the bounds in a text such as 1h,256Mi,10000. Missing ones are the default's. Raises ValueError."""
    bounds: dict[str, float | int] = {}
    for segment in text.split(","):
        try:
            if segment.endswith("i"):
                bounds["size"] = parse_size(segment)
            elif segment.isdigit():
                bounds["count"] = parse_number(segment)
            else:
                bounds["age"] = parse_duration(segment)
        except ValueError:
            raise ValueError(f"expected an age, a size or a number, such as 1h,256Mi,10000, not {segment!r}") from None
    return replace(default or Keep(), **bounds)  # type: ignore[arg-type]


OFF = Keep(0.0, 0, 0)  # no history log; an existing one may be deleted


def parse_log(text: str) -> Keep:
    """Return the bounds of the history log, OFF for "off". Raises ValueError."""
    return OFF if text == "off" else parse_keep(text, LOG_BOUNDS)


def parse_log_of(text: str) -> tuple[str, Keep | None]:
    """Return a resource such as gadgets.example.com, and its bounds; None for "off". Raises ValueError."""
    resource, sign, bounds_text = text.partition("=")
    if not sign or not resource or "/" in resource:
        raise ValueError("expected RESOURCE=AGE,SIZE,NUMBER or RESOURCE=off")
    return resource, None if bounds_text == "off" else parse_log(bounds_text)


@dataclass(frozen=True, slots=True)
class HistoryBounds:
    """How long states are kept beyond the window.

    default: for resources without their own bounds; None keeps nothing. by_prefix: by prefix of their keys, such as
    /example.com/gadgets/; None keeps nothing of that resource. deletes: history that only earlier bounds kept may be
    deleted.
    """

    default: Keep | None = None
    by_prefix: Mapping[str, Keep | None] = field(default_factory=dict)
    deletes: bool = False

    @property
    def keeps_any(self) -> bool:
        """Whether anything is kept."""
        return self.default is not None or any(keep is not None for keep in self.by_prefix.values())

    def keeps(self, prefix: str) -> bool:
        """Return whether history is kept of all resources that have keys under a prefix."""
        resource = keys.prefix_of(prefix)
        if resource in ("", "/"):
            return None not in (self.default, *self.by_prefix.values())
        return self.bounds_of(resource) is not None

    def bounds_of(self, prefix: str) -> Keep | None:
        """Return the bounds of a resource. The server's own keys have no history."""
        if prefix.startswith(keys.OWN) or prefix in ("", "/"):
            return None
        return self.by_prefix.get(prefix, self.default)


class HistoryClock:
    """A clock in milliseconds since 1970 that never goes back, unlike the system's clock. newest: its last value."""

    def __init__(self, newest: int = 0) -> None:
        self.newest = newest

    def next_time(self) -> int:
        """Return the time, but no less than the last returned one."""
        now = int(clock.time() * 1000)
        if now > self.newest:
            self.newest = now
        return self.newest


class HistoryHolds:
    """Counts the readers of one state over time, for which an engine keeps all history."""

    def __init__(self) -> None:
        self.count = 0

    def add(self) -> ExitStack:
        """Count a reader until the returned stack is closed."""
        self.count += 1
        hold = ExitStack()
        hold.callback(self._remove)
        return hold

    def _remove(self) -> None:
        self.count -= 1


@dataclass(slots=True, eq=False)
class _WriteSpan:
    """Consecutive writes. last: their last revision. size: bytes of the states that they replaced.

    at: time of the last write. end, until: another span begins with this revision, or after this time.
    """

    first: int
    last: int
    begun: int
    at: int
    end: int
    until: float
    size: int = 0


class History:
    """The replaced states that can still be read. size: their bytes."""

    def __init__(self, limits: Keep) -> None:
        self._limits = limits
        self._spans: deque[_WriteSpan] = deque()
        self.size = 0
        # of one span
        self._revisions = max(1, min(_MAX_STEP, limits.count // _SPANS))
        self._bytes = limits.size // _SPANS
        self._seconds = limits.age / _SPANS

    def note_writes(self, revision: int, replaced: int, at: int) -> bool:
        """Count writes up to a revision, and the bytes that they replaced.

        Returns whether a step may be due: a span begins, or there are too many bytes.
        """
        span = self._spans[-1] if self._spans else None
        if span is None or revision >= span.end or at > span.until or span.size > self._bytes:
            span = _WriteSpan(revision, revision, at, at, revision + self._revisions, at + self._seconds)
            self._spans.append(span)
        span.last = revision
        span.at = at
        if replaced:
            span.size += replaced
            self.size += replaced
            if self.size > self._limits.size:
                return True
        return span.first == revision

    def find_due(self, now: int, times: int = 1) -> int:
        """Return the revision up to which the next step forgets, 0 if everything must be kept.

        times: multiplies the bounds.
        """
        keep, due, size = self._limits, 0, self.size
        newest = self._spans[-1].last if self._spans else 0
        count, max_size, age = keep.count * times, keep.size * times, keep.age * times
        for span in self._spans:
            is_due = newest - span.last >= count or size > max_size or now - span.at > age
            if not is_due or (due and span.last - self._spans[0].first > _MAX_STEP):
                break
            due = span.last
            size -= span.size
            if (self.size - size) * _SPANS > keep.size:
                break
        return due

    def note_forgotten(self, revision: int) -> None:
        """Drop the records of states up to a revision, which are gone."""
        while self._spans and self._spans[0].last <= revision:
            self.size -= self._spans.popleft().size

    @property
    def oldest_time(self) -> int:
        """When the oldest replaced state was written, 0 if there is none."""
        return self._spans[0].begun if self._spans else 0


def pack_value(value: bytes, like: bytes = b"") -> bytes:
    """Return a value compressed. like: a similar value, which is then needed to read it; b"" for none."""
    bits = (max(len(value), len(like)) + _UNMATCHED_BYTES).bit_length()
    window, memory = -max(_NARROWEST, min(bits, _WIDEST)), _SMALL_MEMORY if bits <= 12 else _LARGE_MEMORY
    if like:
        work = zlib.compressobj(_LEVEL, zlib.DEFLATED, window, memory, zlib.Z_DEFAULT_STRATEGY, like)
    else:
        work = zlib.compressobj(_LEVEL, zlib.DEFLATED, window, memory)
    return work.compress(value) + work.flush()


def unpack_value(packed: bytes, like: bytes = b"") -> bytes:
    """Return the value that `pack_value` packed. Raises zlib.error."""
    work = zlib.decompressobj(-_WIDEST, like) if like else zlib.decompressobj(-_WIDEST)
    return work.decompress(packed) + work.flush()
