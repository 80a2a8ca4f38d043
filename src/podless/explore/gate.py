"""The filter for a controller's requests in a run: it carries out the schedule and keeps the log."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial

import orjson

from podless.auth.attributes import Attributes
from podless.explore.election import Election, Lease
from podless.explore.points import Log, LogEntry, read_version, resource_of
from podless.explore.schedule import ChangeLeader, Crash, HoldEvents, LoseAnswer, Perturbation, RejectWrite, Schedule
from podless.explore.turns import ANSWER, EVENT, REQUEST, Take, Turns
from podless.explore.views import Hold, ResourceView
from podless.http.faults.carry import ask_for_past
from podless.http.info import request_info
from podless.http.message import Answer, Handler, HTTPRequest, Lost, Pending, Response, Stream, settle_answer
from podless.http.status import render_error
from podless.meta.errors import MODIFIED, AlreadyExists, Conflict, qualify_resource
from podless.runtime.jsonobject import Object

_WRITES = ("create", "update", "patch", "delete", "deletecollection")
# resources that do not show what a controller does: for elections, events, and reviews
_LEASES = "leases.coordination.k8s.io"
NOISE = frozenset({_LEASES, "events", "events.events.k8s.io"})
_REVIEWS = ("authentication.k8s.io", "authorization.k8s.io")

_now = time.monotonic

Watched = tuple[str, str]  # (client, resource)


class RunHooks:
    """The actions of a run that its gate needs.

    revision: returns the present revision. find: returns the object of a write, None if it does not exist. crash: kills
    and restarts a client. wrote: called after each write, before its answer. free: takes a lease from its holder.
    """

    def __init__(
        self,
        revision: Callable[[], int],
        find: Callable[[Attributes, str], Awaitable[Object | None]],
        crash: Callable[[str], None],
        wrote: Callable[[LogEntry], Awaitable[None]],
        free: Callable[[Lease], Awaitable[None]],
    ) -> None:
        self.revision = revision
        self.find = find
        self.crash = crash
        self.wrote = wrote
        self.free = free


class GatedRun:
    """One run as the gate sees it: its schedule, its log, and held requests and events.

    open: requests in progress. noise: writes of leases and events so far. failed: the last request, if its answer was
    an error or was lost; the client may try again. lost: watches that a client must still open, because it was started
    or its watch was ended. expected: the watches that clients open when they start; None if unknown. clients: all
    instances of the controller. heard: those that sent any request. away: the longest time in seconds until a client
    opened a cut watch again.
    """

    def __init__(
        self,
        schedule: Schedule,
        hooks: RunHooks,
        turns: Turns,
        expected: frozenset[Watched] | None = None,
        clients: Iterable[str] = (),
    ) -> None:
        self.log = Log()
        self._active = True
        self.open = 0
        self.noise = 0
        self.heard: set[str] = set()
        self.away = 0.0
        self._cut: dict[Watched, float] = {}  # when each watch was cut that is not open again yet
        self.failed = ""
        self.unused = list(schedule)
        self._hooks = hooks
        self.turns = turns
        self._writing = asyncio.Lock()
        self._views: dict[Watched, ResourceView] = {}
        self._seen: dict[tuple[str, str, str, str], int] = {}  # (client, resource, namespace, name) -> revision
        self._listed: dict[Watched, int] = {}  # the newest version that a client's last list of a resource showed
        self._expected = expected
        self._clients = tuple(clients)
        self.lost = set(expected or ())
        self.election = Election(hooks.free)

    @property
    def holds(self) -> bool:
        """Whether events are held now, or the write of a deposed leader."""
        return self.election.stops or any(view.hold is not None for view in self._views.values())

    @property
    def watched(self) -> frozenset[Watched]:
        """The (client, resource) pairs that are watched now."""
        return frozenset(key for key, view in self._views.items() if view.watched)

    @property
    def is_silent(self) -> bool:
        """Whether no request, answer or event has passed since the last call of `take_activity`."""
        return not (self._active or self.open or self.turns.pending)

    def take_activity(self) -> bool:
        """Return whether a request, answer or event has passed since the last call."""
        active, self._active = self._active, False
        return active

    def begin_step(self, point: str, text: str, clients: Iterable[str]) -> None:
        """Log a step of the user, and start the schedule's perturbations at this point."""
        self.log.add_entry(LogEntry("user", "", text, point, revision=self._hooks.revision()))
        for one in self._take_perturbations(point):
            if isinstance(one, HoldEvents):
                self._hold(one, self._hooks.revision(), clients)

    def release(self) -> bool:
        """End a round, and the holds for which it was the last. Return whether a client gets events by that."""
        told = self.election.release()
        for key, view in self._views.items():
            if view.hold is None:
                continue
            view.hold.rounds -= 1
            if view.hold.rounds <= 0:
                drop, watched = view.drops, view.watched
                self._note_fault(f"events of {key[1]} " + ("are dropped" if drop else "are delivered"))
                told = view.release(drop=drop) or told
                if watched and not view.watched:
                    self._note_cut(key)
        self._active = True
        return told

    def forget_client(self, client: str) -> None:
        """End the watches of a killed client, and expect those that it opens when it starts."""
        self._seen = {key: revision for key, revision in self._seen.items() if key[0] != client}
        for key, view in self._views.items():
            if key[0] == client:
                self._cut.pop(key, None)
                if client in self.election.deposed:
                    self.lost.discard(key)
                elif view.watched if self._expected is None else key in self._expected:
                    self.lost.add(key)
                view.close()
        self.turns.drop(client)

    def take_over(self, former: GatedRun) -> None:
        """Take over the open watches of the previous run, whose clients continue."""
        self.lost.clear()
        for key, view in former._views.items():
            view.told = partial(self._note_event, *key)
            self._views[key] = view

    def close(self) -> None:
        """End all watches and queued requests."""
        for view in self._views.values():
            view.close()

    async def answer(self, client: str, request: HTTPRequest, handler: Handler) -> Answer:
        """Answer a request of a client."""
        self.heard.add(client)
        asked = request_info(request.method, request.path, request.query_text).asked
        _prefer_json(request)
        resource = resource_of(asked)
        if resource == _LEASES and asked.verb in _WRITES:
            return await self._write_lease(client, request, asked, handler)
        if not asked.resource or resource in NOISE or asked.group in _REVIEWS:
            answer = await settle_answer(handler(request))
            self.noise += resource in NOISE and asked.verb in _WRITES and answer.status < 300
            return answer
        self.open += 1
        self._active = True
        name = f"{client} {asked.verb} {resource} {asked.namespace}/{asked.name}"
        try:
            if not await self.turns.enter((REQUEST, self.turns.given, name), client):
                return Lost()
            try:
                if asked.verb in _WRITES:
                    return await self._write(client, request, asked, handler)
                if asked.verb == "watch":
                    return await self._watch(client, request, resource, handler)
                return await self._serve_read(client, request, asked, handler)
            finally:
                self.turns.leave()
        finally:
            self.open -= 1
            self._active = True

    async def _serve_read(self, client: str, request: HTTPRequest, asked: Attributes, handler: Handler) -> Answer:
        resource = resource_of(asked)
        hold = self._view(client, resource).hold
        if asked.verb == "list" and hold is not None and hold.revision:
            ask_for_past(request, hold.revision)
        answer = await settle_answer(handler(request))
        if asked.verb == "list":
            self._listed[client, resource] = _read_newest(_read_body(answer))
        text = self.log.mask(f"{client} {asked.verb} {resource} {asked.namespace}/{asked.name}".rstrip("/ "))
        self._note_entry(LogEntry("read", client, text, status=answer.status, resource=resource))
        return answer

    async def _watch(self, client: str, request: HTTPRequest, resource: str, handler: Handler) -> Answer:
        answer = await settle_answer(handler(request))
        if not isinstance(answer, Stream):
            return answer
        self.lost.discard((client, resource))
        if (since := self._cut.pop((client, resource), None)) is not None:
            self.away = max(self.away, _now() - since)
        return self._view(client, resource).stream(answer)

    async def _write_lease(self, client: str, request: HTTPRequest, asked: Attributes, handler: Handler) -> Answer:
        name = asked.name or self.log.name_write("", asked, await request.read_body()).rpartition("/")[2]
        if self.election.refuses((asked.namespace, name), client):
            return render_error(Conflict(asked.resource, asked.group, name, MODIFIED))
        answer = await settle_answer(handler(request))
        if answer.status < 300:
            self.noise += 1
            self.election.note_lease((asked.namespace, name), client)
        return answer

    async def _wait_for_leader(self, client: str) -> None:
        """Depose a leader, and wait until another instance leads and has settled."""
        if not await self.election.depose(client):
            return
        for other, resource in list(self._views):  # the next leader will open the watches of this one
            if other == client:
                self.lost |= {(one, resource) for one in self._clients if one != client}
        self.open -= 1
        try:
            await self.turns.step_aside(self._stop(client))
        finally:
            self.open += 1

    async def _stop(self, client: str) -> bool:
        await self.election.stop()
        return await self.turns.enter((REQUEST, self.turns.given, client), client)

    async def _write(self, client: str, request: HTTPRequest, asked: Attributes, handler: Handler) -> Answer:
        point = self.log.name_write(client, asked, await request.read_body())
        happens = self._take_perturbations(point)
        if any(isinstance(one, ChangeLeader) for one in happens):
            await self._wait_for_leader(client)
        async with self._writing:  # one write at a time, so that each has a state before and after it
            revision = self._hooks.revision()
            before = await self._hooks.find(asked, asked.name)
            for one in happens:
                if isinstance(one, HoldEvents):
                    self._hold(one, revision, [client])
            late = self.holds or bool(self.lost)
            resource = qualify_resource(asked.resource, asked.group)
            seen = self._seen.get((client, resource, asked.namespace, asked.name), 0)
            stale = not late and 0 < read_version(await request.read_body()) < seen
            rejected = any(isinstance(one, RejectWrite) for one in happens)
            if rejected and asked.verb != "create":
                answer: Answer = render_error(Conflict(asked.resource, asked.group, asked.name, MODIFIED))
            else:
                answer = await settle_answer(handler(request))
            created = self._note_created(asked, answer)
            after = await self._hooks.find(asked, created or asked.name)
            if rejected and created:
                answer = render_error(AlreadyExists(asked.resource, asked.group, created))
            entry = LogEntry(
                "write", client, point, point, answer.status, revision, resource_of(asked), late, stale, before, after
            )
            self._note_entry(entry)
            await self._hooks.wrote(entry)
        if any(isinstance(one, Crash) or (isinstance(one, HoldEvents) and one.mode == "restart") for one in happens):
            self._hooks.crash(client)
            return Lost()
        if not await self._wait_for_events(client, point, revision):
            return Lost()
        if any(isinstance(one, LoseAnswer) for one in happens):
            self.failed = _describe_failure(point, 0)
            return Lost()
        return answer

    async def _wait_for_events(self, client: str, point: str, revision: int) -> bool:
        """Let events pass before the answer of their write. Return False if the client was killed."""
        return await self.turns.step_aside(self.turns.enter((ANSWER, revision, point), client))

    def _note_created(self, asked: Attributes, answer: Answer) -> str:
        """Return the name of the object that a create made, "" if it made none."""
        if asked.verb != "create" or answer.status >= 300:
            return ""
        body = _read_body(answer)
        self.log.note_created(body)
        return str((body.get("metadata") or {}).get("name") or "")

    def _take_perturbations(self, point: str) -> list[Perturbation]:
        """Return the perturbations at a point. Each is returned once."""
        happens = [one for one in self.unused if one.at == point]
        for one in happens:
            self.unused.remove(one)
            self._note_fault(str(one))
        return happens

    def _hold(self, one: HoldEvents, revision: int, clients: Iterable[str]) -> None:
        for client in clients:
            view = self._view(client, one.resource)
            past = {"restart": revision, "past": self._find_past(client, one.resource)}.get(one.mode, 0)
            view.hold = Hold(one.rounds, drop=one.mode == "skip", revision=past)
            if one.mode == "restart" and not one.at.startswith(client):
                self._hooks.crash(client)
            if one.mode == "past" and past and view.cut():
                self._note_cut((client, one.resource))

    def _note_cut(self, key: Watched) -> None:
        """Expect that a client opens a cut watch again."""
        self.lost.add(key)
        self._cut[key] = _now()

    def _find_past(self, client: str, resource: str) -> int:
        """Return the revision before the last change of a resource that a client saw, 0 if it saw none.

        It saw a change as an event, or in a list after events that it missed.
        """
        events = (one for one in self.log.entries if one.kind == "event")
        seen = max((one.revision for one in events if (one.client, one.resource) == (client, resource)), default=1)
        return max(seen, self._listed.get((client, resource), 1)) - 1

    def _view(self, client: str, resource: str) -> ResourceView:
        found = self._views.get((client, resource))
        if found is None:
            told = partial(self._note_event, client, resource)

            def queue(revision: int, take: Take) -> None:
                self.turns.queue((EVENT, revision, f"{client} {resource}"), client, take)

            found = self._views[client, resource] = ResourceView(told, queue)
        return found

    def _note_event(self, client: str, resource: str, event: bytes) -> None:
        told = orjson.loads(event)
        self._active = True
        metadata = (told.get("object") or {}).get("metadata") or {}
        if told.get("type") in ("BOOKMARK", "ERROR"):
            return
        self.log.note_created(told["object"])
        place = self.log.mask(f"{metadata.get('namespace', '')}/{metadata.get('name', '')}")
        text = f"{client} sees {resource} {place.lstrip('/')} {told['type'].lower()}"
        revision = int(metadata.get("resourceVersion") or 0)
        self._seen[client, resource, metadata.get("namespace", ""), metadata.get("name", "")] = revision
        self._note_entry(LogEntry("event", client, text, revision=revision, resource=resource))

    def _note_entry(self, entry: LogEntry) -> None:
        self.log.add_entry(entry)
        if entry.kind in ("read", "write"):
            missing = entry.status == 404 and entry.kind == "read"
            self.failed = _describe_failure(entry.text, entry.status) if entry.status >= 400 and not missing else ""

    def _note_fault(self, text: str) -> None:
        self.log.add_entry(LogEntry("fault", "", text, revision=self._hooks.revision()))


class Gate:
    """The filter for a sequence of runs. clients: their names, by token."""

    def __init__(self, clients: Mapping[str, str]) -> None:
        self.control: GatedRun | None = None
        self._clients = {f"Bearer {token}": name for token, name in clients.items()}

    def filter(self, handler: Handler) -> Handler:
        """Return the filter for clients' requests. Other requests go to the next handler."""

        def handle(request: HTTPRequest) -> Answer | Pending:
            client = self._clients.get(request.headers.get("authorization", ""))
            if client is None:
                return handler(request)
            if self.control is None:  # a client of a finished run
                return Lost()
            return self.control.answer(client, request, handler)

        return handle


def _prefer_json(request: HTTPRequest) -> None:
    """Replace protobuf by JSON in the Accept header, because the log reads names and events."""
    accept = request.headers.get("accept", "")
    if "protobuf" in accept:
        kept = [part for part in accept.split(",") if "protobuf" not in part]
        request.headers["accept"] = ",".join(kept) or "application/json"


def _describe_failure(text: str, status: int) -> str:
    return f"{text.partition(' #')[0]}: {status}"


def _read_newest(listed: Object) -> int:
    """Return the newest resourceVersion of the objects in a list, 1 if there are none."""
    items = listed.get("items") or ()
    return max((int((one.get("metadata") or {}).get("resourceVersion") or 1) for one in items), default=1)


def _read_body(answer: Answer) -> Object:
    """Return the object in an answer, {} without one."""
    if not isinstance(answer, Response):
        return {}
    raw = b"".join(answer.chunks)
    found = orjson.loads(raw) if raw.startswith(b"{") else {}
    return found if isinstance(found, dict) else {}
