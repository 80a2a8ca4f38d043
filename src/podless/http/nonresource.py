"""Paths that are not resources: health, version, discovery and OpenAPI documents."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from typing import Any

from podless.apis.release import RECORDED_FACTS, Facts
from podless.auth.accounts import ALGORITHM, ServiceAccountTokens
from podless.codec import serializer
from podless.codec.gotext import quote
from podless.controllers.health import LIVE, HealthChecks
from podless.http import negotiate
from podless.http.message import JSON, TEXT, HTTPRequest, LazyBody, Pending, Response
from podless.http.metrics import MEDIA, Metrics
from podless.http.openapi import OpenAPIPaths
from podless.http.operations import OperationPaths
from podless.kinds.registry import Registry
from podless.meta.errors import MethodNotAllowed, NotServed, PageNotFound
from podless.publish import discovery
from podless.runtime.meter import charge
from podless.runtime.release import has
from podless.verbs.call import API
from podless.version import __version__

log = logging.getLogger("podless")

PROFILING_PATH = "/debug/pprof"
_NO_SNIFF = ("X-Content-Type-Options", "nosniff")
_REDIRECT_BODY = b'<a href="/debug/pprof/">Found</a>.\n\n'
# profiles and index pages of a real server; podless has no profiles
_REAL = ("", "profile", "symbol", "trace", "allocs", "block", "goroutine", "heap", "mutex", "threadcreate")

_AGGREGATED = b";g=apidiscovery.k8s.io;v=%s;as=APIGroupDiscoveryList"
_KEYS = {"/.well-known/openid-configuration": negotiate.JSON, "/openid/v1/jwks": "application/jwk-set+json"}
_SERVICES = tuple(f"{path}/" for path in ("/version", *_KEYS))  # paths below these are not served
_HOUR = [("Cache-Control", "public, max-age=3600")]
_CALL_CHARGE = 1 << 10  # a charge before long calls in C, so that other work can run first
_SHORT_DOCUMENT = 1 << 14  # bytes of JSON; longer documents become YAML in slices
_NO_METHOD = "the server does not allow this method on the requested resource"


def version_info(facts: Facts = RECORDED_FACTS) -> dict[str, str]:
    """Return the answer of /version. Clients adapt to the release that it names."""
    import platform  # imported late: it takes 0.1 MB

    emulated = {
        "emulationMajor": "1",
        "emulationMinor": f"{facts.minor}",
        "minCompatibilityMajor": "1",
        "minCompatibilityMinor": f"{facts.compatible}",
    }
    return {
        "major": "1",
        "minor": f"{facts.minor}",
        **(emulated if has("EmulationInVersion") else {}),
        "gitVersion": f"{facts.version}+podless.{__version__}",
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": f"python{platform.python_version()}",
        "compiler": platform.python_implementation(),
        "platform": f"{platform.system().lower()}/{platform.machine()}",
    }


class NonResourcePaths:
    """Answers all paths that are not resources. address: host and port under which clients reach the server."""

    def __init__(
        self, api: API, address: Callable[[], str], metrics: Metrics, checks: HealthChecks, operations: OperationPaths
    ) -> None:
        self._registry = api.registry
        self._off_loop = api.off_loop
        self._accounts = api.authenticator.accounts
        self._facts = api.facts
        self._address = address
        self._metrics = metrics
        self._health = checks
        self._operations = operations
        self._openapi = OpenAPIPaths(api)
        self._aggregated_documents: dict[Any, tuple[bytes, str]] = {}
        self._generation = -1

    def answer(self, request: HTTPRequest) -> Response | Pending:
        """Return the document at the request's path.

        Raises PageNotFound, NotServed, NotAcceptable or MethodNotAllowed.
        """
        path = request.path
        if path.startswith("//"):
            raise PageNotFound
        segments = path.strip("/").split("/")
        first = segments[0]
        if first in LIVE:
            return _answer_health(self._health, request)
        if path.rstrip("/") == "/version":
            return self._answer_version(request)
        if path == "/metrics":
            return Response(200, LazyBody(self._metrics.make_pieces()), MEDIA)
        if first == "podless":
            return self._operations.answer(request)
        if first == "openapi":
            return self._openapi.answer(request, segments)
        if first == "api" and len(segments) <= 2:
            return self._answer_core(request, segments)
        if first == "apis" and len(segments) <= 3:
            return self._answer_group(request, segments)
        if self._accounts is not None and path.rstrip("/") in _KEYS:
            return self._answer_keys(self._accounts, request)
        if path in ("/", "/index.html"):
            return Response(200, [serializer.encode_pretty({"paths": self._list_paths()})], JSON)
        if first == "logs" and not has("NoLogs"):  # this release has a route for /logs, although the logs are disabled
            _check_route(request)
        below = first == "apis" and self._registry.is_builtin_group(segments[1])
        if below or first == "api" or path.startswith(_SERVICES):
            raise NotServed
        if path.startswith(PROFILING_PATH) and (profile := answer_profiling(request)) is not None:
            return profile
        raise PageNotFound

    def _answer_keys(self, accounts: ServiceAccountTokens, request: HTTPRequest) -> Response:
        """Return the OpenID Connect discovery document or the keys of service account tokens.

        Source: OpenID Connect Discovery. Raises MethodNotAllowed, NotAcceptable.
        """
        if request.method != "GET":
            raise MethodNotAllowed(_NO_METHOD)
        media = _KEYS[request.path.rstrip("/")]
        negotiate.check_route_accept(request.headers.get("accept", ""), (media,))
        if media != negotiate.JSON:
            return Response(200, [serializer.encode_json(accounts.make_key_set())], media.encode(), _HOUR)
        document = {
            "issuer": accounts.issuer,
            "jwks_uri": f"https://{self._address()}/openid/v1/jwks",
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": [ALGORITHM],
        }
        return Response(200, [serializer.encode_json(document)], JSON, _HOUR)

    def _answer_version(self, request: HTTPRequest) -> Response:
        if request.method != "GET":
            raise MethodNotAllowed(_NO_METHOD)
        negotiate.check_route_body(request.headers.get("content-type", ""), (negotiate.JSON,))
        negotiate.check_route_accept(request.headers.get("accept", ""), (negotiate.JSON,))
        return Response(200, [serializer.encode_pretty(version_info(self._facts))], JSON)

    def _list_paths(self) -> list[str]:
        paths = ["/api", "/api/v1", "/apis", "/apis/", "/metrics", "/openapi/v2", "/openapi/v3", "/openapi/v3/"]
        paths += ["/version", *(_KEYS if self._accounts is not None else ())]
        for endpoint in LIVE:
            paths += [f"/{endpoint}", *(f"/{endpoint}/{name}" for name in self._health.list_checks(endpoint))]
        for group in self._registry.list_groups():
            paths.append(f"/apis/{group}")
            paths += [f"/apis/{group}/{name}" for name in self._registry.list_versions(group)]
        return sorted(paths)

    def _answer_core(self, request: HTTPRequest, segments: list[str]) -> Response | Pending:
        if len(segments) == 1:
            _check_route(request)
            return self._answer_root(request, lambda: discovery.make_api_versions(self._address()), core=True)
        document = discovery.make_resources_document(self._registry, "", segments[1])
        if document is None:
            raise NotServed
        _check_route(request)
        return _render_document(document, _choose_form(request))

    def _answer_group(self, request: HTTPRequest, segments: list[str]) -> Response | Pending:
        registry = self._registry
        if request.path.startswith("/apis//"):
            raise PageNotFound
        if len(segments) == 1:
            return self._answer_root(request, lambda: discovery.make_groups_document(registry), core=False)
        return self._off_loop.slices.run(self._answer_document, request, segments)

    def _answer_document(self, request: HTTPRequest, segments: list[str]) -> Response:
        """Return the discovery document of a group, or of one of its versions. Raises as `answer` does."""
        registry = self._registry
        if len(segments) == 2:
            document = discovery.make_group_document(registry, segments[1])
        else:
            document = discovery.make_resources_document(registry, segments[1], segments[2])
            if document is not None and registry.is_builtin_group(segments[1]):
                _check_route(request)
        if document is None:
            raise NotServed if segments[1] and registry.is_builtin_group(segments[1]) else PageNotFound
        return _render_document(document, _choose_form(request))

    def _answer_root(self, request: HTTPRequest, plain: Callable[[], Any], *, core: bool) -> Response | Pending:
        """Return /api or /apis: plain, or aggregated with an ETag and cached until a kind changes."""
        form = _choose_form(request, aggregated=core or request.path == "/apis")
        if not form.target:
            return self._off_loop.slices.run(lambda: _render_document(plain(), form))
        if self._generation != self._registry.generation:
            self._aggregated_documents.clear()
            self._generation = self._registry.generation
        document = self._aggregated_documents.get((core, form.version))
        if document is None or (form.media != negotiate.JSON or form.pretty):
            return self._answer_aggregated(request, form, core)
        return _answer_tagged(request, *document, form.version)

    async def _answer_aggregated(self, request: HTTPRequest, form: negotiate.AnswerForm, core: bool) -> Response:
        """Return the aggregated document, made in slices; kinds may change meanwhile."""
        document = self._aggregated_documents.get((core, form.version))
        if document is None:
            generation = self._registry.generation
            document = await self._off_loop.slices.run(_encode_aggregated, self._registry, core, form.version)
            if generation == self._registry.generation == self._generation:
                self._aggregated_documents[core, form.version] = document
        body, tag = document
        answer = _answer_tagged(request, body, tag, form.version)
        if answer.chunks and (form.media != negotiate.JSON or form.pretty):
            result = await self._off_loop.run(len(body), lambda: _render_document(serializer.decode_json(body), form))
            return Response(200, result.chunks, result.media + _AGGREGATED % form.version.encode(), answer.headers)
        return answer


def _encode_aggregated(registry: Registry, core: bool, version: str) -> tuple[bytes, str]:
    """Return the aggregated document and its ETag."""
    document = discovery.make_aggregated_document(registry, core=core)
    document["apiVersion"] = f"apidiscovery.k8s.io/{version}"
    charge(_CALL_CHARGE)
    body = serializer.fit_bytes(serializer.encode_json(document) + b"\n")
    charge(_CALL_CHARGE)
    return body, hashlib.sha512(body).hexdigest().upper()


def _answer_tagged(request: HTTPRequest, body: bytes, tag: str, version: str) -> Response:
    """Return the document, or 304 if the client has this version of it."""
    headers = [("ETag", f'"{tag}"'), ("Vary", "Accept"), ("Cache-Control", "public")]
    if request.headers.get("if-none-match", "") == f'"{tag}"':
        return Response(304, (), b"", headers)
    return Response(200, [body], JSON + _AGGREGATED % version.encode(), headers)


def _check_route(request: HTTPRequest) -> None:
    """Check a request for the resource list of a built-in group, whose route accepts fewer forms.

    Raises MethodNotAllowed, UnsupportedMediaType or NotAcceptable.
    """
    if request.method != "GET":
        raise MethodNotAllowed(_NO_METHOD)
    negotiate.check_route_body(request.headers.get("content-type", ""), negotiate.OFFERED)
    negotiate.check_route_accept(request.headers.get("accept", ""), negotiate.OFFERED)


def _choose_form(request: HTTPRequest, *, aggregated: bool = False) -> negotiate.AnswerForm:
    form = negotiate.choose_discovery_form(request.headers.get("accept", ""), aggregated=aggregated)
    return negotiate.make_readable(form, request.query, request.headers.get("user-agent", ""))


def _render_document(document: Any, form: negotiate.AnswerForm) -> Response:
    if form.media == negotiate.PROTOBUF:
        return Response(200, [discovery.encode_discovery(document)], negotiate.PROTOBUF.encode())
    if form.media == negotiate.YAML:
        if len(serializer.encode_for_comparison(document)) > _SHORT_DOCUMENT:
            return Response(200, LazyBody(lambda: serializer.encode_yaml_pieces(document)), negotiate.YAML.encode())
        return Response(200, [serializer.encode_yaml(document)], negotiate.YAML.encode())
    body = serializer.encode_pretty(document) if form.pretty else serializer.encode_json(document) + b"\n"
    return Response(200, [body], JSON)


def answer_profiling(request: HTTPRequest) -> Response | None:
    """Return the answer to a profiling request, None for other paths."""
    if request.path == PROFILING_PATH:
        moved = [("Location", f"{PROFILING_PATH}/")]
        if request.method in ("GET", "HEAD"):
            return Response(302, [_REDIRECT_BODY], b"text/html; charset=utf-8", moved)
        return Response(302, (), b"", moved)
    name = request.path.removeprefix(f"{PROFILING_PATH}/")
    if not request.path.startswith(f"{PROFILING_PATH}/") or name in _REAL:
        return None
    return Response(404, [b"Unknown profile\n"], TEXT, [("X-Go-Pprof", "1"), _NO_SNIFF])


async def _answer_health(health: HealthChecks, request: HTTPRequest) -> Response:
    """Return the answer of /healthz, /livez or /readyz, whole or for one check. Raises PageNotFound."""
    endpoint, slash, check = request.path[1:].partition("/")
    if not slash:
        return await _check_all(health, request, endpoint)
    if check not in health.list_checks(endpoint):
        raise PageNotFound
    fault = await health.find_fault(check)
    if fault:
        return _text_response(500, f"internal server error: {fault}\n")
    return Response(200, [b"ok"], TEXT)


async def _check_all(health: HealthChecks, request: HTTPRequest, path: str) -> Response:
    excluded = dict.fromkeys(request.query.get("exclude", ()))
    unknown = dict(excluded)
    lines, failed = [], []
    for name in health.list_checks(path):
        if name in excluded:
            unknown.pop(name, None)
            lines.append(f"[+]{name} excluded: ok\n")
        elif fault := await health.find_fault(name):
            lines.append(f"[-]{name} failed: reason withheld\n")
            failed.append(f"{name}: {fault}")
        else:
            lines.append(f"[+]{name} ok\n")
    if unknown:
        names = ",".join(quote(name) for name in sorted(unknown))
        lines.append(f"warn: some health checks cannot be excluded: no matches for {names}\n")
    report = "".join(lines)
    if failed:
        log.warning("health: %s failed: %s", path, "; ".join(failed))
        return _text_response(500, f"{report}{path} check failed\n")
    return _text_response(200, f"{report}{path} check passed\n" if "verbose" in request.query else "ok")


def _text_response(code: int, text: str) -> Response:
    return Response(code, [text.encode()], TEXT, [_NO_SNIFF])
