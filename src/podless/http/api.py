"""From a request to a verb and back: who asks, what for, in which form."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from podless.auth import impersonation
from podless.auth.denied import Denied
from podless.auth.user import User
from podless.http import negotiate, status
from podless.http.attributes import attributes
from podless.http.compress import DOCUMENT_THRESHOLDS, THRESHOLD, compress, shrink
from podless.http.info import RequestInfo, parse
from podless.http.message import Answer, Request, Response, Stream
from podless.http.negotiate import Form
from podless.http.nonresource import NonResource
from podless.http.offload import Offload
from podless.http.render import response
from podless.http.rows import Rows
from podless.http.stream import WatchStream, error_line, media
from podless.kinds import conversion
from podless.kinds.kind import Kind, Version
from podless.meta import codec, gotime, gvk
from podless.meta.errors import (
    APIError,
    BadRequest,
    Expired,
    MethodNotAllowed,
    NotServed,
    PageNotFound,
)
from podless.verbs import options
from podless.verbs.apply import is_json
from podless.verbs.call import API, Call, Outcome, entries
from podless.verbs.create import create
from podless.verbs.delete import delete
from podless.verbs.deletecollection import delete_collection
from podless.verbs.finalize import finalize
from podless.verbs.get import get
from podless.verbs.list import list_
from podless.verbs.patch import patch
from podless.verbs.review import review
from podless.verbs.scale import scale
from podless.verbs.update import update
from podless.verbs.watch import Watch

# bytes of a body that is not read on the event loop
_LONG_YAML = 64 * 1024
_LONG_JSON = 256 * 1024  # sound ones take a moment, but what is wrong with one may be hard to tell

# method -> (verb on a collection, verb on an object)
_VERBS = {
    "GET": ("list", "get"),
    "HEAD": ("list", "get"),
    "POST": ("create", "create"),
    "PUT": ("update", "update"),
    "PATCH": ("patch", "patch"),
    "DELETE": ("deletecollection", "delete"),
}
_WRITES: dict[str, Callable[[API, Call], Coroutine[Any, Any, Outcome]]] = {
    "create": create,
    "update": update,
    "patch": patch,
    "delete": delete,
    "deletecollection": delete_collection,
}
_ON_SUBRESOURCES = {"get", "update", "patch"}


class Server:
    """Answers requests. Reads answer at once; what has to wait gives a coroutine."""

    def __init__(self, api: API, documents: NonResource) -> None:
        self._api = api
        self._nonresource = documents
        self._rows = Rows()
        self._offload = Offload()
        self.started = time.time()

    def handle(self, request: Request) -> Answer | Coroutine[Any, Any, Answer]:
        """The answer, or a coroutine that gives it. Never raises."""
        accept = request.headers.get("accept", "")
        try:
            answer = self._answer(request, accept)
        except Exception as error:
            return status.render(error, accept)
        return answer

    async def _guard(self, answer: Coroutine[Any, Any, Answer], accept: str, call: Call) -> Answer:
        try:
            return await answer
        except Exception as error:
            return status.render(error, accept, call.warnings)

    def _answer(self, request: Request, accept: str) -> Answer | Coroutine[Any, Any, Answer]:
        user = self._api.authenticator.user(request.headers, request.certificate)
        if not isinstance(user, User):
            return self._answer_later(request, accept, user)
        return self._answer_to(user, request, accept)

    async def _answer_later(self, request: Request, accept: str, user: Coroutine[Any, Any, User]) -> Answer:
        """For those whom it takes time to know."""
        try:
            answer = self._answer_to(await user, request, accept)
        except Exception as error:
            return status.render(error, accept)
        return answer if isinstance(answer, (Response, Stream)) else await answer

    def _answer_to(self, user: User, request: Request, accept: str) -> Answer | Coroutine[Any, Any, Answer]:
        authorizer = self._api.authorizer
        asked, audit = attributes(request), request.audit
        if audit is not None:
            audit.identify(user, asked)
        other = impersonation.wanted(request.headers)
        if other is not None:
            user = impersonation.act(authorizer, user, other, asked)
            if audit is not None:
                audit.act_as(user)
        allowed = authorizer.allowed(user, asked)
        if audit is not None:
            audit.decide(allowed, authorizer.decide(user, asked).reason)
        if not allowed:
            raise Denied(user, asked, authorizer.decide(user, asked).reason)
        info = parse(request.path)
        if info is None:
            document = self._nonresource.answer(request, accept)
            return shrink(request, document, DOCUMENT_THRESHOLDS.get(request.path, THRESHOLD))
        call, verb = self._call(request, info)
        call.user = user
        if audit is not None:
            audit.annotations = call.annotations = call.annotations | audit.annotations
        form = self._form(call, verb, accept)
        if verb == "watch":
            return self._guard(self._watch(call, form), accept, call)
        _check_timeout(call)
        if verb in ("get", "list") and call.subresource != "scale":
            try:
                return self._read(request, call, verb, form)
            except APIError as error:
                return status.render(error, accept, call.warnings)
        return self._guard(self._write(request, call, verb, form), accept, call)

    def _call(self, request: Request, info: RequestInfo) -> tuple[Call, str]:
        """What is asked of which resource. Raises NotServed, PageNotFound or MethodNotAllowed."""
        found = self._api.registry.find(info.group, info.version, info.resource)
        if found is None:
            raise NotServed if info.legacy or self._api.registry.builtin(info.group) else PageNotFound
        kind, version = found
        call = Call(
            kind=kind,
            version=version,
            namespace=info.namespace,
            name=info.name,
            subresource=info.subresource,
            query=request.query,
            body=request.body,
            content_type=request.headers.get("content-type", ""),
            agent=request.headers.get("user-agent", ""),
        )
        verb = self._verb(request, info, call)
        if version.deprecated and verb != "":
            call.warnings.append(version.deprecation_warning or _deprecation(kind, version))
        return call, verb

    def _verb(self, request: Request, info: RequestInfo, call: Call) -> str:
        kind = call.kind
        collection_verb, object_verb = _VERBS.get(request.method, ("", ""))
        verb = object_verb if info.name else collection_verb
        if verb == "list" and (info.watch or options.truth(call, "watch")):
            verb = "watch"
        elif info.watch and verb == "get":
            verb = "watch"
            call.query = {**call.query, "fieldSelector": [f"metadata.name={info.name}"]}
        _check_place(kind, info, verb)
        if info.subresource:
            return _on_subresource(call, verb)
        if not info.name and verb in ("update", "patch"):
            if kind.custom:
                raise BadRequest("name must be provided")
            raise MethodNotAllowed("the server does not allow this method on the requested resource")
        if not kind.custom and ((info.name and verb == "create") or request.method == "HEAD"):
            raise MethodNotAllowed("the server does not allow this method on the requested resource")
        if verb not in kind.verbs and not (kind.terminating and verb):
            raise _not_allowed(kind, verb)
        return verb

    def _form(self, call: Call, verb: str, accept: str) -> Form:
        form = negotiate.of_resource(accept, builtin=not call.kind.custom, watch=verb == "watch")
        return negotiate.readable(form, call.query, call.agent)

    def _read(self, request: Request, call: Call, verb: str, form: Form) -> Answer | Coroutine[Any, Any, Answer]:
        collection = self._api.collection(call.kind)
        if verb == "get" and collection.loaded and self._api.cache.fresh:
            outcome: Outcome = get(self._api, call, collection)
            if call.kind.converter is not None and conversion.missing(call.kind, call.version, entries(outcome)):
                later = self._read_later(request, call, verb, form)
                return self._guard(later, request.headers.get("accept", ""), call)
            return shrink(request, response(call, outcome, form, status.warning_headers(call.warnings), self._rows))
        later = self._read_later(request, call, verb, form)
        return self._guard(later, request.headers.get("accept", ""), call)

    async def _read_later(self, request: Request, call: Call, verb: str, form: Form) -> Answer:
        collection = await self._api.loaded(call.kind)
        if verb == "get":
            outcome: Outcome = get(self._api, call, collection)
        else:
            outcome = await list_(self._api, call, collection, options.listing(call, watch=False))
        await conversion.ready(call.kind, call.version, entries(outcome))
        answer = response(call, outcome, form, status.warning_headers(call.warnings), self._rows)
        return await compress(request, answer)

    async def _write(self, request: Request, call: Call, verb: str, form: Form) -> Answer:
        if call.body and verb in ("create", "update", "delete", "deletecollection"):
            whole = call.kind.custom and verb in ("create", "update") and call.subresource != "scale"
            call.content_type = negotiate.body_type(call.content_type, custom=whole)
        if len(call.body) > _LONG_YAML:
            call.body = await self._read_offloaded(call, verb)
        if call.subresource == "scale":
            outcome: Outcome = await scale(self._api, call, verb)
        elif call.subresource == "finalize":
            outcome = await finalize(self._api, call)
        elif verb == "create" and (call.kind.virtual or call.subresource):
            outcome = await review(self._api, call)
        else:
            outcome = await _WRITES[verb](self._api, call)
        await conversion.ready(call.kind, call.version, entries(outcome))
        answer = response(call, outcome, form, status.warning_headers(call.warnings), self._rows)
        return await compress(request, answer)

    async def _read_offloaded(self, call: Call, verb: str) -> bytes:
        """A long body, read beforehand where that takes long; others are served meanwhile."""
        body = call.body
        if "yaml" in call.content_type:
            as_json = verb == "patch" and is_json(body)
            return body if as_json else await self._offload.run(partial(codec.ParsedYAML.of, body))
        if len(body) > _LONG_JSON and "protobuf" not in call.content_type:
            return await self._offload.run(partial(codec.ParsedJSON.of, body))
        return body

    async def _watch(self, call: Call, form: Form) -> Answer:
        chosen = options.listing(call, watch=True)
        collection = await self._api.loaded(call.kind)
        watch = Watch(self._api, call, chosen, collection)
        headers = status.warning_headers(call.warnings)
        try:
            await watch.prepare()
            return WatchStream(self._api, call, watch, form).stream(headers)
        except (Expired, conversion.ConversionFailed) as error:
            # a watch that comes too late, or cannot be shown, is answered in the stream, where clients look for it
            watch.stop()
            return Response(200, [error_line(error.status(), form)], media(form), headers)
        except APIError:
            watch.stop()
            raise


def _check_place(kind: Kind, info: RequestInfo, verb: str) -> None:
    """Namespaced objects are in a namespace, others in none. Raises PageNotFound or NotServed."""
    fits = kind.namespaced or not info.namespaced
    if kind.namespaced and not info.namespaced:
        fits = not info.name and verb in ("list", "watch")
    if not fits:
        raise PageNotFound if kind.custom else NotServed


def _check_timeout(call: Call) -> None:
    """The timeout that a request sets itself is a duration; nothing here takes long enough to need it.

    Raises BadRequest.
    """
    given = options.text(call, "timeout")
    fault = gotime.duration_fault(given) if given else ""
    if fault:
        raise BadRequest(f"invalid timeout specified in the request URL - {fault}")


def _on_subresource(call: Call, verb: str) -> str:
    """Raises NotFound for a subresource that the version does not have, MethodNotAllowed for a verb it does not."""
    kind = call.kind
    if call.subresource not in kind.subresources(call.version):
        raise call.not_found() if kind.custom else NotServed
    known = kind.subresource(call.subresource)
    if verb not in (_ON_SUBRESOURCES if known is None else known.verbs):
        raise _not_allowed(kind, verb)
    return verb


def _not_allowed(kind: Kind, verb: str) -> MethodNotAllowed:
    if not kind.custom:
        return MethodNotAllowed("the server does not allow this method on the requested resource")
    details = {"group": kind.group, "kind": kind.plural}
    return MethodNotAllowed(f'{verb} is not supported on resources of kind "{kind.resource}"', details)


def _deprecation(kind: Kind, version: Version) -> str:
    """The warning of a deprecated version that does not bring one of its own."""
    base = f"{kind.api_version(version.name)} {kind.kind} is deprecated"
    before = gvk.priority(version.name)
    newer = [other for other in kind.versions if not other.deprecated and gvk.priority(other.name) < before]
    return f"{base}; use {kind.api_version(newer[0].name)} {kind.kind}" if newer else base
