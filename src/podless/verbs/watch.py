"""watch: what happens to the objects of a list, from now or from a revision on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from podless.cache.collection import Collection, Event
from podless.cache.entry import Entry
from podless.meta.errors import Expired, Internal
from podless.store import Compacted
from podless.verbs.call import API, Call
from podless.verbs.list import selector
from podless.verbs.options import ListOptions, parse_revision, revision_error

ADDED, MODIFIED, DELETED = "ADDED", "MODIFIED", "DELETED"


class Seen(NamedTuple):
    """One event as a watcher sees it. event: what it comes from, None for the initial state."""

    type: str
    entry: Entry
    event: Event | None = None


Receive = Callable[[Sequence[Seen]], object]


class Watch:
    """One watch. `prepare` first, then `start`; `stop` ends it.

    initial: what is to be sent before all else. bookmark_after: whether the end of the initial state is to be marked.
    """

    def __init__(self, api: API, call: Call, options: ListOptions, collection: Collection) -> None:
        self.call = call
        self.options = options
        self.initial: list[Seen] = []
        self.bookmark_after = False
        self._api = api
        self._collection = collection
        self._match = selector(call, options)
        self._early: list[Event] | None = []
        self._receive: Receive | None = None
        self._leave: Callable[[], None] | None = None
        self._ended: Callable[[], None] | None = None

    @property
    def revision(self) -> int:
        """The revision that a bookmark would carry now."""
        return self._api.cache.revision

    async def prepare(self) -> None:
        """Find what is to be sent first. Raises Internal for a bad revision, Expired for a forgotten one."""
        wanted = self._wanted()
        self._leave = self._collection.listen(self._take)
        options = self.options
        if options.initial is not False and (options.initial or not wanted):
            entries = self._collection.under(self.call.scope)[0]
            match = self._match
            self.initial = [Seen(ADDED, entry) for entry in entries if match is None or match(entry)]
            self.bookmark_after = bool(options.initial) and options.bookmarks
            return
        if not wanted:
            return
        newest = self._collection.changed
        try:
            events = await self._collection.since(wanted, self.call.kind.created)
        except Compacted as error:
            self.stop()
            raise Expired(f"too old resource version: {wanted} ({error.floor})") from None
        # what came in while the history was read is in _early
        self.initial = self._see([event for event in events if event.revision <= newest])

    def _wanted(self) -> int:
        given = self.options.revision
        try:
            return parse_revision(given) if given else 0
        except ValueError as error:
            raise Internal(revision_error(given, error)) from None

    def start(self, receive: Receive, ended: Callable[[], None]) -> None:
        """Hand every batch of events to `receive` from now on; `ended` is called when the resource goes away."""
        self._receive, self._ended = receive, ended
        early, self._early = self._early or [], None
        if early:
            self._take(early)

    def stop(self) -> None:
        """No more events."""
        if self._leave is not None:
            self._leave()
            self._leave = None
        self._receive = None

    def _take(self, events: Sequence[Event]) -> None:
        if self._early is not None:
            self._early.extend(events)
            return
        if not events:  # the resource is gone
            if self._ended is not None:
                self._ended()
            return
        seen = self._see(events)
        if seen and self._receive is not None:
            self._receive(seen)

    def _see(self, events: Sequence[Event]) -> list[Seen]:
        """The events as this watch sees them: what enters its selection is added, what leaves it deleted."""
        scope, match = self.call.scope, self._match
        seen = []
        for event in events:
            if not event.key.startswith(scope):
                continue
            before, after = event.before, event.after
            had = before is not None and (match is None or match(before))
            has = after is not None and (match is None or match(after))
            if has and after is not None:
                seen.append(Seen(MODIFIED if had else ADDED, after, event))
            elif had and before is not None:
                seen.append(Seen(DELETED, event.last(before), event))
        return seen
