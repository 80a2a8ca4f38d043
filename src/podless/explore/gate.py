"""The filter between a controller and the server: it carries out a run's schedule, and keeps the run's log.

A Laboratory installs one Gate in its server. Each Trial gives it a GatedRun, which passes requests, answers and events
on in turn (turns.py), and fails, holds or drops those that the schedule names.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial

import orjson

from podless.auth.authorizer import Attributes
from podless.explore.election import Election, Lease
from podless.explore.points import Log, LogEntry, read_version, resource_of
from podless.explore.schedule import ChangeLeader, Crash, HoldEvents, LoseAnswer, Perturbation, RejectWrite, Schedule
from podless.explore.turns import ANSWER, EVENT, REQUEST, Take, Turns
from podless.explore.views import Hold, ResourceView
from podless.http.faults.carry import ask_for_past
from podless.http.message import Answer, Handler, HTTPRequest, NoAnswer, Pending, Response, Stream, settle_answer
from podless.http.status import render_error
from podless.meta.errors import MODIFIED, AlreadyExists, Conflict, qualify_resource
from podless.runtime.dataclass import dataclass
from podless.runtime.jsonobject import Object

_WRITES = ("create", "update", "patch", "delete", "deletecollection")
# resources that do not show what a controller does: for elections, events, and reviews
_LEASES = "leases.coordination.k8s.io"
NOISE = frozenset({_LEASES, "events", "events.events.k8s.io"})
_REVIEWS = ("authentication.k8s.io", "authorization.k8s.io")

_now = time.monotonic

Watched = tuple[str, str]  # (client, resource)


@dataclass(frozen=True, slots=True)
class RunHooks:
    """The actions of a run that its gate needs."""

    revision: Callable[[], int]  # returns the present revision
    find: Callable[[Attributes, str], Awaitable[Object | None]]  # returns the object of a write, None if it is absent
    crash: Callable[[str], None]  # kills and restarts a client
    after_write: Callable[[LogEntry], Awaitable[None]]  # called after each write, before its answer
    free_lease: Callable[[Lease], Awaitable[None]]  # takes a lease from its holder


class GatedRun:
    """One run as the gate sees it: its schedule, its log, and held requests and events.

    open_requests: in progress. noise: writes of leases and events so far. last_failure: the last request, if its answer
    was an error or was lost; the client may try again. lost_watches: those that a client must still open, because it
    was started or its watch was ended. expected: the watches that clients open when they start; None if unknown.
    clients: all instances of the controller. heard_clients: those that sent any request. longest_absence: the longest
    time in seconds until a client opened a cut watch again.
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
        self.open_requests = 0
        self.noise = 0
        self.heard_clients: set[str] = set()
        self.longest_absence = 0.0
        self._cut_at: dict[Watched, float] = {}  # when each watch was cut that is not open again yet
        self.last_failure = ""
        self.unused = list(schedule)
        self._hooks = hooks
        self.turns = turns
        self._writing = asyncio.Lock()
        self._views: dict[Watched, ResourceView] = {}
        self._seen_revisions: dict[tuple[str, str, str, str], int] = {}  # by client, resource, namespace and name
        self._listed: dict[Watched, int] = {}  # the newest version that a client's last list of a resource showed
        self._expected = expected
        self._clients = tuple(clients)
        self.lost_watches = set(expected or ())
        self.election = Election(hooks.free_lease)

    @property
    def is_holding(self) -> bool:
        """Whether events are held now, or the write of a deposed leader."""
        return self.election.has_stopped_writes or any(view.hold is not None for view in self._views.values())

    @property
    def watched(self) -> frozenset[Watched]:
        """The (client, resource) pairs that are watched now."""
        return frozenset(key for key, view in self._views.items() if view.is_watched)

    @property
    def is_silent(self) -> bool:
        """Whether no request, answer or event has passed since the last call of `take_activity`."""
        return not (self._active or self.open_requests or self.turns.has_waiting)

    def take_activity(self) -> bool:
        """Return whether a request, answer or event has passed since the last call."""
        active, self._active = self._active, False
        return active

    def begin_step(self, point: str, text: str, clients: Iterable[str]) -> None:
        """Log a step of the user, and start the schedule's perturbations at this point."""
        self.log.entries.append(LogEntry("user", "", text, point, revision=self._hooks.revision()))
        for perturbation in self._take_perturbations(point):
            if isinstance(perturbation, HoldEvents):
                self._hold_events(perturbation, self._hooks.revision(), clients)

    def end_round(self) -> bool:
        """End a round, and the holds for which it was the last. Return whether a client gets events by that."""
        delivers = self.election.release_writes()
        for key, view in self._views.items():
            if view.hold is None:
                continue
            view.hold.rounds -= 1
            if view.hold.rounds <= 0:
                drop, watched = view.will_drop, view.is_watched
                self._note_fault(f"events of {key[1]} " + ("are dropped" if drop else "are delivered"))
                delivers = view.release_events(drop=drop) or delivers
                if watched and not view.is_watched:
                    self._note_cut(key)
        self._active = True
        return delivers

    def forget_client(self, client: str) -> None:
        """End the watches of a killed client, and expect those that it opens when it starts."""
        self._seen_revisions = {key: revision for key, revision in self._seen_revisions.items() if key[0] != client}
        for key, view in self._views.items():
            if key[0] == client:
                self._cut_at.pop(key, None)
                if client in self.election.deposed:
                    self.lost_watches.discard(key)
                elif view.is_watched if self._expected is None else key in self._expected:
                    self.lost_watches.add(key)
                view.end_watches()
        self.turns.drop_client(client)

    def take_over(self, former: GatedRun) -> None:
        """Take over the open watches of the previous run, whose clients continue."""
        self.lost_watches.clear()
        for key, view in former._views.items():
            view.on_event = partial(self._note_event, *key)
            self._views[key] = view

    def end_watches(self) -> None:
        """End all watches and queued requests."""
        for view in self._views.values():
            view.end_watches()

    async def answer_request(self, client: str, request: HTTPRequest, handler: Handler) -> Answer:
        """Answer a request of a client."""
        self.heard_clients.add(client)
        if request.unclear:
            return await settle_answer(handler(request))
        attributes = request.info.attributes
        _prefer_json(request)
        resource = resource_of(attributes)
        if resource == _LEASES and attributes.verb in _WRITES:
            return await self._write_lease(client, request, attributes, handler)
        if not attributes.resource or resource in NOISE or attributes.group in _REVIEWS:
            answer = await settle_answer(handler(request))
            self.noise += resource in NOISE and attributes.verb in _WRITES and answer.status < 300
            return answer
        self.open_requests += 1
        self._active = True
        name = f"{client} {attributes.verb} {resource} {attributes.namespace}/{attributes.name}"
        try:
            if not await self.turns.enter_turn((REQUEST, self.turns.given_count, name), client):
                return NoAnswer()
            try:
                if attributes.verb in _WRITES:
                    return await self._serve_write(client, request, attributes, handler)
                if attributes.verb == "watch":
                    return await self._serve_watch(client, request, resource, handler)
                return await self._serve_read(client, request, attributes, handler)
            finally:
                self.turns.leave_turn()
        finally:
            self.open_requests -= 1
            self._active = True

    async def _serve_read(self, client: str, request: HTTPRequest, attributes: Attributes, handler: Handler) -> Answer:
        resource = resource_of(attributes)
        hold = self._view_of(client, resource).hold
        if attributes.verb == "list" and hold is not None and hold.revision:
            ask_for_past(request, hold.revision)
        answer = await settle_answer(handler(request))
        if attributes.verb == "list":
            self._listed[client, resource] = _read_newest(_read_body(answer))
        text = self.log.mask_name(
            f"{client} {attributes.verb} {resource} {attributes.namespace}/{attributes.name}".rstrip("/ ")
        )
        self._note_entry(LogEntry("read", client, text, status=answer.status, resource=resource))
        return answer

    async def _serve_watch(self, client: str, request: HTTPRequest, resource: str, handler: Handler) -> Answer:
        answer = await settle_answer(handler(request))
        if not isinstance(answer, Stream):
            return answer
        self.lost_watches.discard((client, resource))
        if (since := self._cut_at.pop((client, resource), None)) is not None:
            self.longest_absence = max(self.longest_absence, _now() - since)
        return self._view_of(client, resource).wrap_stream(answer)

    async def _write_lease(self, client: str, request: HTTPRequest, attributes: Attributes, handler: Handler) -> Answer:
        name = attributes.name or self.log.name_write("", attributes, await request.read_body()).rpartition("/")[2]
        if self.election.refuses_lease((attributes.namespace, name), client):
            return render_error(Conflict(attributes.resource, attributes.group, name, MODIFIED))
        answer = await settle_answer(handler(request))
        if answer.status < 300:
            self.noise += 1
            self.election.note_lease((attributes.namespace, name), client)
        return answer

    async def _wait_for_leader(self, client: str) -> None:
        """Depose a leader, and wait until another instance leads and has settled."""
        if not await self.election.depose_client(client):
            return
        for watcher, resource in list(self._views):  # the next leader will open the watches of this one
            if watcher == client:
                self.lost_watches |= {(instance, resource) for instance in self._clients if instance != client}
        self.open_requests -= 1
        try:
            await self.turns.step_aside(self._wait_as_deposed(client))
        finally:
            self.open_requests += 1

    async def _wait_as_deposed(self, client: str) -> bool:
        await self.election.wait_for_release()
        return await self.turns.enter_turn((REQUEST, self.turns.given_count, client), client)

    async def _serve_write(self, client: str, request: HTTPRequest, attributes: Attributes, handler: Handler) -> Answer:
        point = self.log.name_write(client, attributes, await request.read_body())
        perturbations = self._take_perturbations(point)
        if any(isinstance(perturbation, ChangeLeader) for perturbation in perturbations):
            await self._wait_for_leader(client)
        async with self._writing:  # one write at a time, so that each has a state before and after it
            revision = self._hooks.revision()
            before = await self._hooks.find(attributes, attributes.name)
            for perturbation in perturbations:
                if isinstance(perturbation, HoldEvents):
                    self._hold_events(perturbation, revision, [client])
            is_late = self.is_holding or bool(self.lost_watches)
            resource = qualify_resource(attributes.resource, attributes.group)
            seen_revision = self._seen_revisions.get((client, resource, attributes.namespace, attributes.name), 0)
            stale = not is_late and 0 < read_version(await request.read_body()) < seen_revision
            rejected = any(isinstance(perturbation, RejectWrite) for perturbation in perturbations)
            answer, name = await self._carry_out_write(request, attributes, handler, rejected=rejected)
            after, status = await self._hooks.find(attributes, name), answer.status
            written = resource_of(attributes)
            entry = LogEntry("write", client, point, point, status, revision, written, is_late, stale, before, after)
            self._note_entry(entry)
            await self._hooks.after_write(entry)
        if any(map(_restarts_client, perturbations)):
            self._hooks.crash(client)
            return NoAnswer()
        # events pass before the answer of their write
        if not await self.turns.step_aside(self.turns.enter_turn((ANSWER, revision, point), client)):
            return NoAnswer()  # the client was killed
        if any(isinstance(perturbation, LoseAnswer) for perturbation in perturbations):
            self.last_failure = _describe_failure(point, 0)
            return NoAnswer()
        return answer

    async def _carry_out_write(
        self, request: HTTPRequest, attributes: Attributes, handler: Handler, *, rejected: bool
    ) -> tuple[Answer, str]:
        """Return the answer of a write, and the name of its object. rejected: as RejectWrite says."""
        resource, group, name = attributes.resource, attributes.group, attributes.name
        if rejected and attributes.verb != "create":
            return render_error(Conflict(resource, group, name, MODIFIED)), name
        answer = await settle_answer(handler(request))
        created = self._note_created(attributes, answer)
        if rejected and created:
            return render_error(AlreadyExists(resource, group, created)), created
        return answer, created or name

    def _note_created(self, attributes: Attributes, answer: Answer) -> str:
        """Return the name of the object that a create made, "" if it made none."""
        if attributes.verb != "create" or answer.status >= 300:
            return ""
        body = _read_body(answer)
        self.log.note_created(body)
        return str((body.get("metadata") or {}).get("name") or "")

    def _take_perturbations(self, point: str) -> list[Perturbation]:
        """Return the perturbations at a point. Each is returned once."""
        matching = [perturbation for perturbation in self.unused if perturbation.at == point]
        for perturbation in matching:
            self.unused.remove(perturbation)
            self._note_fault(str(perturbation))
        return matching

    def _hold_events(self, perturbation: HoldEvents, revision: int, clients: Iterable[str]) -> None:
        for client in clients:
            view = self._view_of(client, perturbation.resource)
            past = self._find_past(client, perturbation.resource) if perturbation.mode == "past" else 0
            shown = revision if perturbation.mode == "restart" else past
            view.hold = Hold(perturbation.rounds, drop=perturbation.mode == "skip", revision=shown)
            if perturbation.mode == "restart" and not perturbation.at.startswith(client):
                self._hooks.crash(client)
            if past and view.cut_watches():
                self._note_cut((client, perturbation.resource))

    def _note_cut(self, key: Watched) -> None:
        """Expect that a client opens a cut watch again."""
        self.lost_watches.add(key)
        self._cut_at[key] = _now()

    def _find_past(self, client: str, resource: str) -> int:
        """Return the revision before the last change of a resource that a client saw, 0 if it saw none.

        It saw a change as an event, or in a list after events that it missed.
        """
        events = (entry for entry in self.log.entries if entry.kind == "event")
        seen = max(
            (entry.revision for entry in events if (entry.client, entry.resource) == (client, resource)), default=1
        )
        return max(seen, self._listed.get((client, resource), 1)) - 1

    def _view_of(self, client: str, resource: str) -> ResourceView:
        view = self._views.get((client, resource))
        if view is None:
            note_event = partial(self._note_event, client, resource)

            def queue_event(revision: int, take: Take) -> None:
                self.turns.queue_turn((EVENT, revision, f"{client} {resource}"), client, take)

            view = self._views[client, resource] = ResourceView(note_event, queue_event)
        return view

    def _note_event(self, client: str, resource: str, event: bytes) -> None:
        document = orjson.loads(event)
        self._active = True
        metadata = (document.get("object") or {}).get("metadata") or {}
        if document.get("type") in ("BOOKMARK", "ERROR"):
            return
        self.log.note_created(document["object"])
        name = self.log.mask_name(f"{metadata.get('namespace', '')}/{metadata.get('name', '')}")
        text = f"{client} sees {resource} {name.lstrip('/')} {document['type'].lower()}"
        revision = int(metadata.get("resourceVersion") or 0)
        self._seen_revisions[client, resource, metadata.get("namespace", ""), metadata.get("name", "")] = revision
        self._note_entry(LogEntry("event", client, text, revision=revision, resource=resource))

    def _note_entry(self, entry: LogEntry) -> None:
        self.log.entries.append(entry)
        if entry.kind in ("read", "write"):
            missing = entry.status == 404 and entry.kind == "read"
            failed = entry.status >= 400 and not missing
            self.last_failure = _describe_failure(entry.text, entry.status) if failed else ""

    def _note_fault(self, text: str) -> None:
        self.log.entries.append(LogEntry("fault", "", text, revision=self._hooks.revision()))


class Gate:
    """The filter for a sequence of runs. clients: their names, by token."""

    def __init__(self, clients: Mapping[str, str]) -> None:
        self.control: GatedRun | None = None
        self._clients = {f"Bearer {token}": name for token, name in clients.items()}

    def wrap_handler(self, handler: Handler) -> Handler:
        """Return a handler for the requests of clients. Other requests go to the next handler."""

        def handle(request: HTTPRequest) -> Answer | Pending:
            client = self._clients.get(request.headers.get("authorization", ""))
            if client is None:
                return handler(request)
            if self.control is None:  # a client of a finished run
                return NoAnswer()
            return self.control.answer_request(client, request, handler)

        return handle


def _restarts_client(perturbation: Perturbation) -> bool:
    """Return whether the client is killed after the write of a perturbation."""
    restarts = isinstance(perturbation, HoldEvents) and perturbation.mode == "restart"
    return restarts or isinstance(perturbation, Crash)


def _prefer_json(request: HTTPRequest) -> None:
    """Replace protobuf by JSON in the Accept header, because the log reads names and events."""
    accept = request.headers.get("accept", "")
    if "protobuf" in accept:
        media_types = [media_type for media_type in accept.split(",") if "protobuf" not in media_type]
        request.headers["accept"] = ",".join(media_types) or "application/json"


def _describe_failure(text: str, status: int) -> str:
    return f"{text.partition(' #')[0]}: {status}"


def _read_newest(listed: Object) -> int:
    """Return the newest resourceVersion of the objects in a list, 1 if there are none."""
    items = listed.get("items") or ()
    return max((int((item.get("metadata") or {}).get("resourceVersion") or 1) for item in items), default=1)


def _read_body(answer: Answer) -> Object:
    """Return the object in an answer, {} without one."""
    if not isinstance(answer, Response):
        return {}
    raw = b"".join(answer.chunks)
    obj = orjson.loads(raw) if raw.startswith(b"{") else {}
    return obj if isinstance(obj, dict) else {}
