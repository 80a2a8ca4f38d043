"""Chooses the form of an answer: the Accept header against the offered types.

Source: content negotiation of a real server, recorded in the negotiation and table scenarios.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from podless.codec.accept import MediaRange, parse_accept
from podless.meta.errors import NotAcceptable, UnsupportedMediaType
from podless.runtime.bounded import bounded_cache
from podless.runtime.lazy import compile_late
from podless.runtime.release import has
from podless.structs import protobuf

JSON = "application/json"
YAML = "application/yaml"
PROTOBUF = protobuf.MEDIA
OFFERED = (JSON, YAML, PROTOBUF)
_TRANSFORMS = frozenset(
    (target, "meta.k8s.io", version)
    for target in ("Table", "PartialObjectMetadata", "PartialObjectMetadataList")
    for version in ("v1", "v1beta1")
)
DISCOVERY = ("APIGroupDiscoveryList", "apidiscovery.k8s.io", "v2")


class AnswerForm(NamedTuple):
    """The form of an answer. target: such as Table, "" for the object itself; version: of meta.k8s.io."""

    media: str = JSON
    target: str = ""
    version: str = ""
    pretty: bool = False


PLAIN = AnswerForm()
STREAMS = (f"{JSON};stream=watch", f"{PROTOBUF};stream=watch")
_UNTABLED = frozenset(transform for transform in _TRANSFORMS if transform[0] != "Table")
_AGGREGATED = frozenset({DISCOVERY})
_AGGREGATED_BETA = _AGGREGATED | {(*DISCOVERY[:2], "v2beta1")}
_PLAIN: frozenset[tuple[str, str, str]] = frozenset()
_TRUE = ("1", "t", "T", "TRUE", "true", "True")
_PEOPLE = ("curl", "Wget", "Mozilla/5.0")  # starts of User-Agents of programs that show answers to people
_CONVERSION = frozenset(("as", "g", "v"))


def _includes_media(clause: MediaRange, media: str) -> bool:
    """Return whether a media range of Accept includes a media type."""
    kind, _, subtype = media.partition("/")
    return (clause.kind == kind and clause.subtype in (subtype, "*")) or clause.kind == clause.subtype == "*"


def _find_form(
    clause: MediaRange, media: str, allowed: frozenset[tuple[str, str, str]], builtin: bool
) -> AnswerForm | None:
    """Return the form that a clause of Accept asks for, None if it is not offered.

    Tables and custom objects have no protobuf form; the PartialObjectMetadata of custom objects has one.
    """
    parameters = clause.parameters
    stream, server = parameters.get("stream", ""), parameters.get("sv", "")
    if stream and (stream != "watch" or media == YAML):
        return None
    if server and (server != "v1" or allowed not in (_TRANSFORMS, _UNTABLED)):
        return None
    pretty = parameters.get("pretty") == "1"
    if not parameters.keys() & _CONVERSION:
        plain = allowed not in (_AGGREGATED, _AGGREGATED_BETA) and (media != PROTOBUF or builtin)
        return AnswerForm(media, pretty=pretty) if plain else None
    conversion = (parameters.get("as", ""), parameters.get("g", ""), parameters.get("v", ""))
    if conversion not in allowed or (conversion[0] == "Table" and media == PROTOBUF):
        return None
    return AnswerForm(media, conversion[0], conversion[2], pretty)


@bounded_cache(1024)
def choose_form(accept: str, allowed: frozenset[tuple[str, str, str]], *, builtin: bool = False) -> AnswerForm | None:
    """Return the form that an Accept header asks for, None if nothing suitable is offered.

    allowed: the targets (such as Table) that are offered. builtin: whether whole objects may be protobuf.
    """
    if not accept.strip():
        return AnswerForm()
    for clause in parse_accept(accept):
        for media in OFFERED:
            if _includes_media(clause, media) and (form := _find_form(clause, media, allowed, builtin)) is not None:
                return form
    return None


def choose_object_form(accept: str, *, builtin: bool = False, of_list: bool = False, tables: bool = True) -> AnswerForm:
    """Return the form of an answer about objects. of_list: a list or watch. tables: tables are offered.

    Raises NotAcceptable. Routes of built-in kinds check the header first.
    """
    if accept == JSON:
        return PLAIN
    form = choose_form(accept, _TRANSFORMS if tables else _UNTABLED, builtin=builtin)
    if builtin:
        check_route_accept(accept, OFFERED, STREAMS if of_list else ())
    if form is None:
        raise NotAcceptable(_describe_allowed(OFFERED))
    return form


def choose_stream_form(form: AnswerForm) -> AnswerForm:
    """Return the form of a watch's events, which are never YAML. Call it after other errors of the watch are excluded.

    Raises NotAcceptable.
    """
    if form.media == YAML:
        raise NotAcceptable(_describe_allowed(STREAMS))
    return form


def check_route_accept(accept: str, offered: Sequence[str], streams: Sequence[str] = ()) -> None:
    """Check that an Accept header accepts */*, or one of a route's media types exactly. Raises NotAcceptable.

    streams: more offered types, for the error text only.
    """
    if not accept.strip() or accept in offered:
        return
    accepted = {segment.partition(";")[0].strip() for segment in dict.fromkeys(accept.split(","))}
    if "*/*" not in accepted and accepted.isdisjoint(offered):
        raise NotAcceptable(f"406: Not Acceptable\n\nAvailable representations: {', '.join((*offered, *streams))}", {})


def check_route_body(content_type: str, media_types: Sequence[str]) -> None:
    """Check that a Content-Type, if given, is */* or a media type that a route takes. Raises UnsupportedMediaType.

    A real server checks it for requests without a body, too.
    """
    if content_type:
        sent_types = {part.partition(";")[0].strip() for part in content_type.split(",")}
        if "*/*" not in sent_types and sent_types.isdisjoint(media_types):
            raise UnsupportedMediaType("415: Unsupported Media Type", {})


def choose_discovery_form(accept: str, *, aggregated: bool) -> AnswerForm:
    """Return the form of a discovery document. aggregated: the document exists in aggregated form too.

    Raises NotAcceptable.
    """
    targets = _AGGREGATED if has("AggregatedDiscoveryRemoveBetaType") else _AGGREGATED_BETA
    form = choose_form(accept, targets) if aggregated and accept.strip() else None
    if form is None:
        form = choose_form(accept, _PLAIN, builtin=True)
    if form is None:
        raise NotAcceptable(_describe_allowed(OFFERED))
    return form


def make_readable(form: AnswerForm, query: Mapping[str, Sequence[str]], agent: str) -> AnswerForm:
    """Return the form, indented if a person reads the answer: by the parameter `pretty`, else by the User-Agent."""
    pretty = next(filter(None, query.get("pretty", ())[:1]), "") if query else ""
    is_indented = pretty in _TRUE if pretty else agent.startswith(_PEOPLE)
    return form._replace(pretty=True) if is_indented and not form.pretty else form


def choose_error_form(accept: str) -> AnswerForm:
    """Return the form of an error. It is indented JSON if the client accepts no form that errors have.

    Source: WriteObjectNegotiated and WriteRawJSON in apiserver's endpoints/handlers/responsewriters.
    """
    form = choose_form(accept, _PLAIN, builtin=True)
    return form if form is not None else AnswerForm(JSON, pretty=True)


def _describe_allowed(offered: tuple[str, ...]) -> str:
    return f"only the following media types are accepted: {', '.join(offered)}"


def body_type(header: str, *, custom: bool) -> str:
    """Return the media type of a request body; without a header JSON. Custom objects have no protobuf form.

    Raises UnsupportedMediaType.
    """
    media = header
    if header not in OFFERED:
        media = _media_type(header) if header else JSON
    if media in (JSON, YAML) or (media == PROTOBUF and not custom):
        return media
    raise UnsupportedMediaType(
        f"the body of the request was in an unknown format - accepted media types include: {', '.join(OFFERED)}"
    )


def _media_type(header: str) -> str:
    """Return the media type of a Content-Type in lower case; "" if Go's mime.ParseMediaType rejects the header."""
    match = _MEDIA_TYPE.fullmatch(header)
    return match[1].lower() if match is not None else ""


_PARAMETER = r'[^;=\s]++=(?:[^;"\s]++|"(?:[^"\\]|\\.)*+")'
_MEDIA_TYPE = compile_late(rf"\s*+([^;\s]*+)\s*+(?:;\s*+{_PARAMETER}\s*+)*+(?:;\s*+)?+", re.DOTALL)
