"""Which form an answer takes: the Accept header against what is offered.

Source: content negotiation as a real server does it, recorded in the negotiation and table scenarios.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from podless.meta import protobuf
from podless.meta.accept import Clause, clauses
from podless.meta.errors import NotAcceptable, UnsupportedMediaType

JSON = "application/json"
YAML = "application/yaml"
PROTOBUF = protobuf.MEDIA
OFFERED = (JSON, YAML, PROTOBUF)
_TRANSFORMS = {
    ("Table", "meta.k8s.io", "v1"),
    ("Table", "meta.k8s.io", "v1beta1"),
    ("PartialObjectMetadata", "meta.k8s.io", "v1"),
    ("PartialObjectMetadata", "meta.k8s.io", "v1beta1"),
    ("PartialObjectMetadataList", "meta.k8s.io", "v1"),
    ("PartialObjectMetadataList", "meta.k8s.io", "v1beta1"),
}
DISCOVERY = ("APIGroupDiscoveryList", "apidiscovery.k8s.io", "v2")


class Form(NamedTuple):
    """The form of an answer. target: "" for the object itself, or Table ...; version: of meta.k8s.io."""

    media: str = JSON
    target: str = ""
    version: str = ""
    pretty: bool = False


def _transform(clause: Clause, allowed: frozenset[tuple[str, str, str]]) -> tuple[str, str] | None:
    """What the clause wants the object turned into: ("", "") for nothing, None where that is not offered."""
    parameters = clause.parameters
    target = parameters.get("as", "")
    if not target:
        return "", ""
    wanted = (target, parameters.get("g", ""), parameters.get("v", ""))
    return (target, wanted[2]) if wanted in allowed else None


_RESOURCE = frozenset(_TRANSFORMS)
_AGGREGATED = frozenset({DISCOVERY})
_PLAIN: frozenset[tuple[str, str, str]] = frozenset()


def _offered(media: str, target: str, builtin: bool) -> bool:
    """Whether there is such a form: tables are never protobuf, and of custom objects only the metadata is."""
    if media != PROTOBUF:
        return True
    return target.startswith("PartialObjectMetadata") or (builtin and not target)


@lru_cache(maxsize=1024)
def choose(
    accept: str, allowed: frozenset[tuple[str, str, str]], offered: tuple[str, ...], *, builtin: bool = False
) -> Form | None:
    """The form that an Accept header asks for, or None where nothing offered will do.

    allowed: what objects may be turned into. builtin: whether whole objects may be protobuf.
    """
    if not accept.strip():
        return Form(offered[0])
    for clause in clauses(accept):
        transform = _transform(clause, allowed)
        if transform is None:
            continue
        for media in offered:
            kind, _, subtype = media.partition("/")
            if clause.kind not in (kind, "*") or clause.subtype not in (subtype, "*"):
                continue
            if _offered(media, transform[0], builtin):
                pretty = clause.parameters.get("pretty") == "1"
                return Form(media, transform[0], transform[1], pretty)
    return None


def of_resource(accept: str, *, builtin: bool = False, watch: bool = False) -> Form:
    """The form of an answer about objects. Raises NotAcceptable, with the text of built-in kinds for these."""
    form = choose(accept, _RESOURCE, OFFERED, builtin=builtin)
    if form is None and builtin and not watch:
        raise NotAcceptable(f"406: Not Acceptable\n\nAvailable representations: {', '.join(OFFERED)}", {})
    if form is None:
        raise NotAcceptable(_refusal(OFFERED))
    if watch and form.media == YAML:
        raise NotAcceptable(_refusal((JSON, PROTOBUF), ";stream=watch"))
    return form


def of_discovery(accept: str, *, aggregated: bool) -> Form:
    """The form of a discovery document. Raises NotAcceptable."""
    form = choose(accept, _AGGREGATED if aggregated else _PLAIN, (JSON, YAML))
    if form is None:
        raise NotAcceptable(_refusal(OFFERED))
    return form


def of_error(accept: str) -> Form:
    """The form of an error: YAML or protobuf for those who ask for it, else JSON."""
    form = choose(accept, _RESOURCE, OFFERED, builtin=True)
    return Form(form.media if form is not None else JSON)


def _refusal(offered: tuple[str, ...], suffix: str = "") -> str:
    return "only the following media types are accepted: " + ", ".join(media + suffix for media in offered)


def content_type(header: str) -> str:
    """The media type of a Content-Type header, without its parameters."""
    return header.partition(";")[0].strip()


def body_type(header: str, *, custom: bool) -> str:
    """The form of a request body; none said means JSON. Custom objects are no protobuf. Raises UnsupportedMediaType."""
    media = content_type(header) or JSON
    if media in (JSON, YAML) or (media == PROTOBUF and not custom):
        return media
    raise UnsupportedMediaType(
        f"the body of the request was in an unknown format - accepted media types include: {', '.join(OFFERED)}"
    )
