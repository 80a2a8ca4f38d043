"""The last handler of the chain: calls the verb that a request asks for, and renders its result."""

from __future__ import annotations

import math
from collections.abc import Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from podless.history.change import GROUP
from podless.http import negotiate, routes
from podless.http.authors import make_author
from podless.http.info import RequestInfo
from podless.http.lists import RowCache
from podless.http.message import Answer, HTTPRequest, Pending, Response, Stream, settle_answer
from podless.http.negotiate import PLAIN, AnswerForm
from podless.http.nonresource import NonResourcePaths
from podless.http.render import (
    longest_object,
    prepare_layout,
    prepare_list,
    render_quickly,
    render_response,
    render_stored_list,
)
from podless.http.rulecosts import asks_costs, read_costs
from podless.http.sending import SWAGGER_THRESHOLD, THRESHOLD, compress_answer, shrink_answer
from podless.http.stream import WatchStream, error_line, watch_media
from podless.http.watchselectors import SelectorTable
from podless.kinds import conversion
from podless.kinds.kind import Kind, Version
from podless.meta.errors import Expired, NoBackend, NotAcceptable, NotServed, PageNotFound, UnsupportedMediaType
from podless.offload.offloop import OffLoop
from podless.runtime import lazy
from podless.runtime.memo import made_once
from podless.runtime.meter import ALLOWANCE, TimeAllowance
from podless.runtime.release import has
from podless.store.contract import AUTHOR
from podless.verbs import options
from podless.verbs.call import API, Call, Outcome, Single, list_entries
from podless.verbs.create import create_object
from podless.verbs.delete import delete_object
from podless.verbs.deletecollection import delete_collection
from podless.verbs.get import get_component, get_object
from podless.verbs.list import list_objects, matches_objects
from podless.verbs.patch import find_media_type, patch_object
from podless.verbs.ready import keep_ready, load_kind, make_ready
from podless.verbs.update import finalize_object, update_object
from podless.verbs.watch import Watch
from podless.virtual.hooked import answer_subresource, is_hooked

if TYPE_CHECKING:
    from podless.http import history
    from podless.virtual import connect, review, scale
else:  # most servers never need them
    history = lazy.LateModule("podless.http.history")
    scale, review = lazy.LateModule("podless.virtual.scale"), lazy.LateModule("podless.virtual.review")
    connect = lazy.LateModule("podless.virtual.connect")

_ROUTES = 4096  # cached routes


_Write = Callable[[API, Call], Coroutine[Any, Any, Outcome]]
_Answer = Callable[[HTTPRequest, Call, AnswerForm], Answer | Pending]
_WRITES: dict[str, _Write] = {
    "create": create_object,
    "update": update_object,
    "patch": patch_object,
    "delete": delete_object,
    "deletecollection": delete_collection,
}


def _find_write(call: Call) -> _Write:
    if call.subresource == "scale":
        return lambda api, call: scale.scale_object(api, call, call.verb)
    if call.subresource == "finalize":
        return finalize_object
    if call.verb == "create" and (call.kind.virtual or call.subresource):
        return review.answer_review
    return _WRITES[call.verb]


class _Route(NamedTuple):
    """How requests with one `RequestInfo.route_key` are answered, once they are checked. tables: are offered."""

    kind: Kind
    version: Version
    tables: bool
    answer: _Answer


class APIHandler:
    """Answers authorized requests. Reads are answered at once; other requests return a coroutine.

    The filters of http/chain.py come first. They set the attributes and the user of a request, and turn exceptions into
    answers.
    """

    def __init__(self, api: API, documents: NonResourcePaths, selectors: SelectorTable) -> None:
        self._api = api
        self._selectors = selectors
        self._nonresource = documents
        self._rows = RowCache()
        self._routes: dict[str, _Route] = {}
        api.registry.add_listener(self._routes.clear)

    @made_once
    def _history(self) -> history.HistoryAnswers:
        return history.HistoryAnswers(self._api)

    def handle(self, request: HTTPRequest) -> Answer | Pending:
        """Return the answer, or a coroutine that gives it. Both raise APIError."""
        info = request.info
        route = self._routes.get(info.route_key)
        if route is not None:
            kind, version, tables, answer = route
            call = _make_call(request, info, kind, version)
            if version.deprecated:
                call.warnings.append(kind.deprecation_warning(version))
            return answer(request, call, _choose_form(request, call, tables))
        if self._api.registry.remote:
            self._check_local(request.path)
        return self._answer_uncached(request, info) if info.attributes.resource else self._answer_path(request)

    def _answer_path(self, request: HTTPRequest) -> Answer | Pending:
        """Return the answer to a request for a path of no resource."""
        document = self._nonresource.answer(request)
        if request.path == "/openapi/v2":
            return _answer_swagger(request, document)
        if request.path.startswith("/openapi") or not isinstance(document, Response):
            return document  # as a real server, which sends OpenAPI v3 as it is
        return shrink_answer(request, document)

    def _answer_uncached(self, request: HTTPRequest, info: RequestInfo) -> Answer | Pending:
        """Check and answer a request whose route is not cached.

        Raises NotServed, PageNotFound, MethodNotAllowed or BadRequest.
        """
        kind, version = self._find_kind(info)
        call = _make_call(request, info, kind, version)
        routes.check_route(call, info, request.method)
        if call.subresource:
            routes.check_subresource(call, info, request.method)
        if info.prefix == "watch" and info.name and not call.query.get("fieldSelector", [""])[0]:
            call.query = {**call.query, "fieldSelector": [f"metadata.name={info.name}"]}
        if version.deprecated and not kind.custom:  # custom kinds have added their own warning
            call.warnings.append(kind.deprecation_warning(version))
        if kind.is_loaded:
            return self._answer_checked(request, info, call)
        return self._answer_first(request, info, call)

    async def _answer_first(self, request: HTTPRequest, info: RequestInfo, call: Call) -> Answer:
        """Import the modules of a built-in kind, then answer its first request."""
        await load_kind(self._api, call.kind)
        return await settle_answer(self._answer_checked(request, info, call))

    def _answer_checked(self, request: HTTPRequest, info: RequestInfo, call: Call) -> Answer | Pending:
        """Answer a request that passed the checks, and cache its route."""
        if call.subresource and connect.is_forwarded(call):
            return self._answer_connect(request, call)
        route = self._make_route(call)
        # the log of changes is not in the registry, whose changes drop the routes; see above for the prefix
        if not info.prefix and route.answer != self._read_history:
            if len(self._routes) >= _ROUTES:
                self._routes.clear()
            self._routes[info.route_key] = route
        return route.answer(request, call, _choose_form(request, call, route.tables))

    def _make_route(self, call: Call) -> _Route:
        kind, below, verb = call.kind, call.subresource, call.verb
        tables = not kind.virtual and (not below or below == "scale" or (below == "status" and kind.status_tables))
        # a kind with a uid comes from a user's definition of the same group
        if kind.group == GROUP and not kind.uid:
            answer: _Answer = self._read_history
        elif verb == "watch":
            answer = self._answer_watch
        elif below and is_hooked(call):
            answer = self._ask_hook
        elif verb in ("get", "list") and below != "scale":
            answer = self._answer_read
        else:
            answer = partial(self._answer_write, _find_write(call))
        return _Route(kind, call.version, tables, answer)

    async def _read_history(self, request: HTTPRequest, call: Call, form: AnswerForm) -> Answer:
        if call.verb == "watch":
            chosen = await options.read_list_options(self._api, call)
            return await self._history.make_watch(call, negotiate.choose_stream_form(form), chosen)
        return await self._render_outcome(request, call, await self._history.answer_get(call), form)

    def _check_local(self, path: str) -> None:
        """Raise NoBackend for an API that another server serves."""
        segments = path.split("/", 4)
        if len(segments) > 3 and segments[1] == "apis" and (segments[2], segments[3]) in self._api.registry.remote:
            raise NoBackend

    def _find_kind(self, info: RequestInfo) -> tuple[Kind, Version]:
        """Return the kind and version that a request names. Raises NotServed or PageNotFound."""
        _, group, version, resource, *_ = info.attributes
        if not group and not info.legacy:
            raise PageNotFound
        route = self._api.registry.find_route(group, version, resource)
        if route is None and group == GROUP:
            route = self._history.find_route(group, version, resource)
        if route is None:
            raise NotServed if info.legacy or self._api.registry.is_builtin_group(group) else PageNotFound
        return route

    async def _ask_hook(self, request: HTTPRequest, call: Call, form: AnswerForm) -> Answer:
        if call.verb != "get":
            call.body = await request.read_body()
            if call.body:
                call.content_type = negotiate.body_type(call.content_type, custom=True)
        return await self._render_outcome(request, call, await answer_subresource(self._api, call), form)

    async def _answer_connect(self, request: HTTPRequest, call: Call) -> Answer:
        accept = request.headers.get("accept", "")
        if call.subresource == "log":
            negotiate.check_route_accept(accept, ("text/plain", *negotiate.OFFERED))
            negotiate.choose_object_form(accept, builtin=False)
        path = request.path.partition(f"/{call.kind.plural}/{call.name}/{call.subresource}")[2]
        upgrade = "upgrade" in request.headers.get("connection", "").lower()
        await connect.connect_object(self._api, call, path, upgrade=upgrade)
        return Response(204, (), b"")

    def _answer_read(self, request: HTTPRequest, call: Call, form: AnswerForm) -> Answer | Pending:
        verb, kind = call.verb, call.kind
        if call.query:
            if "at" in call.query or _asks_past(call):
                return self._read_past(request, call, form)
            if verb == "get" and asks_costs(call):
                return read_costs(self._api, call)
        collection = self._api.collection(kind)
        if verb == "get" and collection.loaded and kind.strategy.reads.revisioned:
            outcome: Outcome = get_object(self._api, call, collection)
            if kind.webhook is not None and conversion.needs_webhook(kind, call.version, list_entries(outcome)):
                return self._read_later(request, call, form)
            answer = render_quickly(call, outcome, form, self._rows)
            if answer is None:
                return self._render_outcome(request, call, outcome, form)
            return shrink_answer(request, answer)
        return self._read_later(request, call, form)

    async def _read_past(self, request: HTTPRequest, call: Call, form: AnswerForm) -> Answer:
        if "at" in call.query:
            await self._history.resolve_moment(call)
        if call.verb == "list":
            return await self._read_later(request, call, form, past=True)
        outcome = await self._history.get_past(call)
        await self._api.converter.prepare_entries(call.kind, call.version, list_entries(outcome))
        return await self._render_outcome(request, call, outcome, form)

    async def _read_later(self, request: HTTPRequest, call: Call, form: AnswerForm, *, past: bool = False) -> Answer:
        collection = self._api.collection(call.kind)
        if past and not collection.loaded:  # a read of an earlier state needs no loaded cache
            await self._api.cache.refresh_once()
        else:
            collection = await self._api.load_collection(call.kind)
        if call.verb == "get" and not call.kind.strategy.reads.revisioned:
            outcome: Outcome = await get_component(self._api, call)
        elif call.verb == "get":
            outcome = get_object(self._api, call, collection)
        else:
            chosen = await options.read_list_options(self._api, call)
            listing = list_objects(self._api, call, collection, chosen)
            sliced = matches_objects(call, collection, chosen)
            outcome = await (self._api.off_loop.slices.slice_coroutine(listing) if sliced else listing)
            rendered = render_stored_list(call, outcome, form)
            if rendered is not None:
                return rendered if 0 <= rendered.size <= THRESHOLD else await compress_answer(request, rendered)
        await self._api.converter.prepare_entries(call.kind, call.version, list_entries(outcome))
        await prepare_list(self._api, call, outcome, form)
        return await self._render_outcome(request, call, outcome, form)

    async def _render_outcome(self, request: HTTPRequest, call: Call, outcome: Outcome, form: AnswerForm) -> Answer:
        """Return the answer, made in slices. Long objects wait for a turn: decoded, they take 20 times the bytes."""
        off_loop = self._api.off_loop
        size = longest_object(outcome)
        if not off_loop.is_long(size):
            answer = await off_loop.slices.run(render_response, call, outcome, form, self._rows)
        elif isinstance(outcome, Single) and form is not PLAIN:  # in another version, the loop caches it
            return await self._show_long(request, call, outcome, form, size)
        else:
            async with off_loop.wait_turn(call.user.name, size):
                answer = await off_loop.slices.run(render_response, call, outcome, form, self._rows)
        return await compress_answer(request, answer)

    async def _show_long(
        self, request: HTTPRequest, call: Call, outcome: Single, form: AnswerForm, size: int
    ) -> Answer:
        """Return the answer about one long object, made off the loop."""
        off_loop = self._api.off_loop
        async with off_loop.wait_turn(call.user.name, size):
            async with keep_ready(self._api, call.kind, call.subresource):
                prepare_layout(call, form)
                # the row cache belongs to the loop, so the thread gets an empty one
                answer = await off_loop.run(size, render_response, call, outcome, form, RowCache())
            return await compress_answer(request, answer)

    async def _answer_write(self, write: _Write, request: HTTPRequest, call: Call, form: AnswerForm) -> Answer:
        call.body = request.body if request.claim_body() else await request.wait_body()
        AUTHOR.set(make_author(request, call))
        size = self._estimate_size(call)
        ALLOWANCE.set(TimeAllowance(size if call.verb != "deletecollection" else math.inf))
        if call.kind.strategy.checking.preload:
            await make_ready(self._api, call.kind)
        if not OffLoop.is_long(size):
            outcome = await self._begin_write(write, call)
            if call.kind.webhook is not None:
                await self._api.converter.prepare_entries(call.kind, call.version, list_entries(outcome))
            rendered = render_quickly(call, outcome, form, self._rows)
            if rendered is None:
                return await self._render_outcome(request, call, outcome, form)
            return rendered if 0 <= rendered.size <= THRESHOLD else await compress_answer(request, rendered)
        async with self._api.off_loop.wait_turn(call.user.name, size):
            async with keep_ready(self._api, call.kind, call.subresource):
                outcome = await self._begin_write(write, call)
                if call.kind.webhook is not None:
                    await self._api.converter.prepare_entries(call.kind, call.version, list_entries(outcome))
                prepare_layout(call, form)
                # the row cache belongs to the loop, so the thread gets an empty one
                answer = await self._api.off_loop.run(size, render_response, call, outcome, form, RowCache())
            return await compress_answer(request, answer)

    def _estimate_size(self, call: Call) -> int:
        """Return the approximate bytes of the written object: of the body or the stored object, whichever is longer."""
        size = len(call.body)
        if call.name and not OffLoop.is_long(size) and not call.kind.virtual:
            collection = self._api.collection(call.kind)
            entry = collection.get(call.key) if collection.loaded else None
            size = max(size, len(entry.body) if entry is not None else 0)
        return size

    def _begin_write(self, write: _Write, call: Call) -> Coroutine[Any, Any, Outcome]:
        """Return the work of a write. Raises UnsupportedMediaType, and BadRequest for invalid options before it."""
        verb = call.verb
        has_object = verb in ("create", "update")
        # JSON is always accepted
        if (has_object and call.content_type != negotiate.JSON) or (
            call.body and verb in ("delete", "deletecollection")
        ):
            is_custom = call.kind.custom and has_object and call.subresource != "scale"
            try:
                call.content_type = negotiate.body_type(call.content_type, custom=is_custom)
            except UnsupportedMediaType:
                # a real server reports invalid options of an update before an unsupported media type; for a create only
                # if the body is protobuf, which it rejects while decoding
                if verb == "update" or (has_object and call.content_type.startswith(negotiate.PROTOBUF)):
                    options.read_write_options(call, "UpdateOptions" if verb == "update" else "CreateOptions")
                raise
        return write(self._api, call)

    async def _answer_watch(self, request: HTTPRequest, call: Call, form: AnswerForm) -> Answer:
        lease = self._selectors.charge_watch(request, call)
        watch: Watch | None = None
        try:
            chosen = await options.read_list_options(self._api, call, lease.selectors.parsed)
            lease.selectors.parsed = chosen.labels, chosen.fields
            watch = Watch(self._api, call, chosen, await self._api.load_collection(call.kind))
            await watch.prepare_initial()
            form = negotiate.choose_stream_form(form)
            stream = WatchStream(self._api, call, watch, form, self._rows, lease.end_lease)
            call.query = {}  # the options are parsed; do not keep long query texts during the watch
            return Stream(stream.start, watch_media(form))
        except BaseException as error:
            lease.end_lease()
            if watch is not None:
                watch.stop()
            if watch is None or not isinstance(error, (Expired, conversion.ConversionFailed)):
                raise
            # clients look for these errors in the event stream
            form = negotiate.choose_stream_form(form)
            return Response(200, [error_line(error.status(), form)], watch_media(form))


async def _answer_swagger(request: HTTPRequest, document: Answer | Pending) -> Answer:
    """Return /openapi/v2, compressed if the client accepts gzip; unlike others, it names the header in any case."""
    answer = await settle_answer(document)
    if not isinstance(answer, Response):
        return answer
    compressed = await compress_answer(request, answer, SWAGGER_THRESHOLD)
    if compressed is answer:
        answer.headers = [*answer.headers, ("Vary", "Accept-Encoding")]
    return compressed


def _make_call(request: HTTPRequest, info: RequestInfo, kind: Kind, version: Version) -> Call:
    attributes, _, _, namespace, name, *_ = info
    audit, headers = request.audit, request.headers
    return Call(
        kind, version, namespace, name, attributes.subresource,
        request.query if request.query_text else {},
        b"",
        headers.get("content-type", ""),
        request.user,
        headers.get("user-agent", ""),
        request.warnings,
        audit.annotations if audit is not None else {},
        verb=attributes.verb,
    )  # fmt: skip


def _asks_past(call: Call) -> bool:
    """Return whether a read asks for an earlier state. A real server ignores resourceVersionMatch for a get."""
    match = call.query.get("resourceVersionMatch")
    return match is not None and match[:1] == ["Exact"] and options.read_text(call, "resourceVersion") not in ("", "0")


def _choose_form(request: HTTPRequest, call: Call, tables: bool) -> AnswerForm:
    """Return the form of the answer. tables: are offered. Raises NotAcceptable, UnsupportedMediaType."""
    if call.verb == "patch":
        find_media_type(call)  # as on a real server, before the Accept header
    accept = request.headers.get("accept", "")
    if accept == negotiate.JSON:
        return negotiate.make_readable(PLAIN, call.query, call.agent)
    of_list = call.verb in ("list", "watch")
    if call.verb == "watch" and not has("TablesOfWatchLists"):
        tables = tables and not options.lists_first(call)
    try:
        form = negotiate.choose_object_form(accept, builtin=not call.kind.custom, of_list=of_list, tables=tables)
    except NotAcceptable:
        if of_list and not has("AcceptBeforeOptions"):
            options.list_options(call)  # invalid options are reported first
        raise
    return negotiate.make_readable(form, call.query, call.agent)
