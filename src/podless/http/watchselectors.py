"""The selectors of watches, and the memory that watches keep, charged to their users (http/clientmemory.py).

A watch keeps parts of its request. Selectors are shared by text: many clients use equal ones, and a parsed selector
takes many times the memory of its text.
"""

from __future__ import annotations

import logging
import time
from collections import Counter

from podless.codec import gotext
from podless.http.clientmemory import REFUSAL, STREAMS, ClientMemory
from podless.http.message import HTTPRequest
from podless.meta.errors import TooManyRequests
from podless.meta.selectors import FieldSelector, LabelSelector
from podless.verbs import options
from podless.verbs.call import Call

log = logging.getLogger("podless")

Texts = tuple[str, str]
Parsed = tuple[LabelSelector, FieldSelector]

_BYTES_A_CHARACTER = 40  # maximum bytes of a parsed selector for each character of its text
_OF_ALL, _OF_ONE = 2, 8  # share of the memory limit for all watches (1/2), and for those of one user (1/8)
_SAY = 10.0  # minimum seconds between two log lines


class SharedSelectors:
    """Parsed selectors in use. parsed: None until a watch has parsed them. users: number of watches, by user."""

    __slots__ = ("parsed", "texts", "users")

    def __init__(self, texts: Texts) -> None:
        self.texts = texts
        self.parsed: Parsed | None = None
        self.users: Counter[str] = Counter()


class SelectorTable:
    """The selectors of all watches, by their texts."""

    def __init__(self, memory: ClientMemory) -> None:
        self._memory = memory
        self._by_texts: dict[Texts, SharedSelectors] = {}
        self._sizes: Counter[str] = Counter()  # bytes, by user
        self._size = 0
        self._last_logged = -_SAY

    def __len__(self) -> int:
        return len(self._by_texts)

    def charge_watch(self, request: HTTPRequest, call: Call) -> SelectorLease:
        """Charge the memory that a watch keeps to its user. Raises TooManyRequests."""
        texts = options.read_text(call, "labelSelector"), options.read_text(call, "fieldSelector")
        user = call.user.name
        request_size = len(request.query_text) + sum(map(len, request.headers.values()))
        shared = self._by_texts.get(texts)
        size = request_size if shared is not None and shared.users[user] else request_size + _estimate_bytes(texts)
        self._charge_user(user, size)
        if shared is None:
            shared = self._by_texts[texts] = SharedSelectors(texts)
        shared.users[user] += 1
        return SelectorLease(self, user, shared, request_size)

    def _charge_user(self, user: str, size: int) -> None:
        maximum = self._memory.limit
        if self._size + size > maximum // _OF_ALL or self._sizes[user] + size > maximum // _OF_ONE:
            if time.monotonic() >= self._last_logged + _SAY:
                self._last_logged = time.monotonic()
                log.warning(
                    "watch: rejected with 429: queries and selectors of %s take %d bytes",
                    gotext.quote(user[:200]),
                    self._sizes[user],
                )
            raise TooManyRequests(REFUSAL, {"retryAfterSeconds": 1})
        self._memory.charge_user(user, size, STREAMS)
        self._size += size
        self._sizes[user] += size

    def release_watch(self, user: str, selectors: SharedSelectors, own_size: int) -> None:
        """Release the memory that a watch has kept."""
        selectors.users[user] -= 1
        if not selectors.users[user]:
            own_size += _estimate_bytes(selectors.texts)
            del selectors.users[user]
            if not selectors.users:
                del self._by_texts[selectors.texts]
        self._size -= own_size
        self._sizes[user] -= own_size
        if not self._sizes[user]:
            del self._sizes[user]
        if own_size:
            self._memory.release_bytes(user, own_size, STREAMS)


class SelectorLease:
    """The memory that one watch keeps. selectors: shared. Call `end_lease` when the watch is over."""

    __slots__ = ("_own_size", "_table", "_user", "selectors")

    def __init__(self, table: SelectorTable, user: str, selectors: SharedSelectors, own_size: int) -> None:
        self._table: SelectorTable | None = table
        self._user = user
        self.selectors = selectors
        self._own_size = own_size

    def end_lease(self) -> None:
        """End the lease."""
        if self._table is not None:
            self._table.release_watch(self._user, self.selectors, self._own_size)
            self._table = None


def _estimate_bytes(texts: Texts) -> int:
    return _BYTES_A_CHARACTER * (len(texts[0]) + len(texts[1]))
