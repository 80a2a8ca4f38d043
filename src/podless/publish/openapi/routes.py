"""The paths of a kind and what may be asked there, in neither version's form yet.

Source: the recorded documents (paths, operation ids, texts, parameters and answers of custom kinds); those of
built-in kinds differ in the dialect. Only what is served is said: built-in kinds offer no protobuf here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from podless.kinds.kind import Kind, Version
from podless.publish.openapi.builtin import package
from podless.publish.openapi.standard import META, PARAMETERS, SCALE

TEXTS = {200: "OK", 201: "Created", 202: "Accepted", 401: "Unauthorized"}
STATUS = META + "Status"
_LIST = [
    "allowWatchBookmarks",
    "continue",
    "fieldSelector",
    "labelSelector",
    "limit",
    "resourceVersion",
    "resourceVersionMatch",
    "sendInitialEvents",
    "shardSelector",
    "timeoutSeconds",
    "watch",
]
_WRITE = ["dryRun", "fieldManager", "fieldValidation"]
_DELETE = [
    "dryRun",
    "gracePeriodSeconds",
    "ignoreStoreReadErrorWithClusterBreakingPotential",
    "orphanDependents",
    "propagationPolicy",
]
# action -> the keys of its parameters in standard.PARAMETERS
QUERIES: dict[str, list[str]] = {
    "get": ["resourceVersion"],
    "list": _LIST,
    "deletecollection": _LIST,
    "post": _WRITE,
    "put": _WRITE,
    "patch": ["dryRun", "fieldManager for patch", "fieldValidation", "force"],
    "delete": _DELETE,
}


@dataclass(frozen=True, slots=True)
class Dialect:
    """How the operations of custom and of built-in kinds differ.

    listing: the verb of a list. consumes: the forms of a body. produces: those of an answer, streams: and those of a
    watch. patches: the forms of a patch. deletes: what deletecollection takes beside the parameters of a list.
    """

    listing: str
    consumes: tuple[str, ...]
    produces: tuple[str, ...]
    streams: tuple[str, ...]
    patches: tuple[str, ...]
    deletes: tuple[str, ...]


_JSON_YAML = ("application/json", "application/yaml")
_PATCHES = ("application/apply-patch+yaml", "application/json-patch+json", "application/merge-patch+json")
CUSTOM = Dialect("list", _JSON_YAML, _JSON_YAML, (), _PATCHES, ())
BUILTIN = Dialect(
    "list or watch",
    ("*/*",),
    _JSON_YAML,
    ("application/json;stream=watch",),
    (*_PATCHES, "application/strategic-merge-patch+json"),
    tuple(_DELETE),
)


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one path.

    method: lower case. action: x-kubernetes-action. name: the operation id. queries: keys of standard.PARAMETERS.
    answer: the component of a good answer, codes: the codes that it comes with. body: the component that is sent, ""
    for none; required: whether it must be.
    """

    path: str
    method: str
    action: str
    text: str
    name: str
    tag: str
    queries: tuple[str, ...]
    produces: tuple[str, ...]
    answer: str
    codes: tuple[int, ...]
    consumes: tuple[str, ...]
    body: str
    required: bool
    gvk: dict[str, str]


@dataclass(frozen=True, slots=True)
class _Route:
    """A row of the tables below: answer is list, object, status or scale; body is "", object, patch or options."""

    method: str
    action: str
    verb: str
    answer: str = "object"
    body: str = ""
    codes: tuple[int, ...] = (200,)


_EVERYWHERE = (_Route("get", "list", "list", "list"),)
_COLLECTION = (
    _Route("get", "list", "list", "list"),
    _Route("post", "post", "create", "object", "object", (200, 201, 202)),
    _Route("delete", "deletecollection", "deletecollection", "status"),
)
_SUBRESOURCE = (
    _Route("get", "get", "read"),
    _Route("put", "put", "replace", "object", "object", (200, 201)),
    _Route("patch", "patch", "patch", "object", "patch"),
)
# verb -> what is said of a subresource beside status and scale
_BELOW = {"create": _COLLECTION[1], "update": _SUBRESOURCE[1]}
_ITEM = (
    *_SUBRESOURCE[:2],
    _Route("delete", "delete", "delete", "status", "options", (200, 202)),
    _SUBRESOURCE[2],
)
# x-kubernetes-action -> the verb that discovery tells of
_VERBS = {"post": "create", "put": "update"}


def model(group: str, version: str, kind: str) -> str:
    """The component's name: the group's parts in reverse order, the version and the kind."""
    return ".".join([*reversed(group.split(".")), version, kind])


def camel(text: str, first: bool) -> str:
    """Letters, underscores and (but for the first) digits; what follows anything else is a capital; first: so is the
    beginning."""
    out = []
    capital = first
    for place, char in enumerate(text):
        if char.isalpha() or char == "_" or (place and char.isdigit()):
            out.append(char.upper() if capital else char)
            capital = False
        else:
            capital = True
    return "".join(out)


def article(noun: str) -> str:
    """The noun with a or an before it; none before a plural."""
    if noun.endswith("s") and not noun.endswith("ss"):
        return noun
    return f"{'an' if noun[0].lower() in 'aeiou' else 'a'} {noun}"


class Writer:
    """Writes the operations of one version of one kind."""

    def __init__(self, kind: Kind, version: Version, name: Callable[[str], str] | None = None) -> None:
        """name: gives the component of a kind; without it, names are those of custom kinds."""
        self.kind = kind
        self.version = version
        self.dialect = CUSTOM if kind.custom else BUILTIN
        self.name = name or (lambda noun: model(kind.group, version.name, noun))
        group = kind.group.removesuffix(".k8s.io") if kind.group else "core"
        self.prefix = camel(group, True) + camel(version.name, True)
        self.tag = f"{camel(group, False)}_{camel(version.name, False)}"
        self.gvk = {"group": kind.group, "version": version.name, "kind": kind.kind}

    def operations(self) -> list[Operation]:
        """All operations, in the order of their paths."""
        kind = self.kind
        base = f"/apis/{kind.group}/{self.version.name}" if kind.group else f"/api/{self.version.name}"
        found: list[Operation] = []
        if kind.namespaced:
            found += self._path(f"{base}/{kind.plural}", _EVERYWHERE, everywhere=True)
            base += "/namespaces/{namespace}"
        found += self._path(f"{base}/{kind.plural}", _COLLECTION)
        item = f"{base}/{kind.plural}/{{name}}"
        found += self._path(item, _ITEM)
        for known in kind.more_subresources:
            found += self._path(f"{item}/{known.name}", [_BELOW[verb] for verb in known.verbs], known.name)
        if self.version.scale is not None:
            found += self._path(f"{item}/scale", _SUBRESOURCE, "scale")
        if self.version.status:
            found += self._path(f"{item}/status", _SUBRESOURCE, "status")
        return found

    def _path(self, path: str, routes: Iterable[_Route], sub: str = "", everywhere: bool = False) -> list[Operation]:
        return [self._operation(path, route, sub, everywhere) for route in routes if sub or self._served(route.action)]

    def _served(self, action: str) -> bool:
        """A definition that is being deleted is still shown whole."""
        return self.kind.custom or _VERBS.get(action, action) in self.kind.verbs

    def _operation(self, path: str, route: _Route, sub: str, everywhere: bool) -> Operation:
        kind, dialect = self.kind, self.dialect
        noun, gvk = SCALE if sub == "scale" else self.name(kind.kind), self.gvk
        known = kind.subresource(sub)
        if known is not None and known.kind is not None:
            of = known.kind
            noun = package(of.group, of.storage_version) + of.kind
            gvk = {"group": of.group, "version": of.storage_version, "kind": of.kind}
        refs = {
            "list": self.name(kind.list_kind),
            "object": noun,
            "status": STATUS,
            "patch": META + "Patch",
            "options": META + "DeleteOptions",
            "": "",
        }
        body = route.body
        queries = QUERIES[route.action]
        if route.action == "deletecollection" and dialect.deletes:
            body, queries = "options", sorted({*queries, *dialect.deletes})
        places = [key for key in ("name", "namespace") if f"{{{key}}}" in path]
        return Operation(
            path=path,
            method=route.method,
            action=route.action,
            text=self._text(route.verb, sub),
            name=self._id(route.verb, sub, everywhere),
            tag=self.tag,
            queries=tuple(sorted([*queries, *places, "pretty"])),
            produces=dialect.produces + (dialect.streams if route.action == "list" else ()),
            answer=refs[route.answer],
            codes=route.codes,
            consumes=dialect.patches if route.action == "patch" else dialect.consumes,
            body=refs[body],
            required=body in ("object", "patch"),
            gvk=gvk,
        )

    def _text(self, verb: str, sub: str) -> str:
        noun = self.kind.kind
        part = f"{sub} of " if sub else ""
        texts = {
            "list": f"{self.dialect.listing} objects of kind {noun}",
            "create": f"create {part}{article(noun)}",
            "deletecollection": f"delete collection of {noun}",
            "read": f"read {part}the specified {noun}",
            "replace": f"replace {part}the specified {noun}",
            "delete": f"delete {article(noun)}",
            "patch": f"partially update {part}the specified {noun}",
        }
        return texts[verb]

    def _id(self, verb: str, sub: str, everywhere: bool) -> str:
        kind = self.kind
        scope = "Namespaced" if kind.namespaced and not everywhere else ""
        rest = f"{scope}{kind.kind}{sub.title()}{'ForAllNamespaces' if everywhere else ''}"
        if verb == "deletecollection":
            verb, rest = "delete", f"Collection{rest}"
        return verb + self.prefix + camel(rest, True)


def paths(operations: Iterable[Operation]) -> dict[str, list[Operation]]:
    """The operations by path."""
    found: dict[str, list[Operation]] = {}
    for operation in operations:
        found.setdefault(operation.path, []).append(operation)
    return found


def shared(operations: list[Operation]) -> list[str]:
    """The parameters that all operations of a path have: the path has them in their place."""
    first, *others = operations
    return [key for key in first.queries if all(key in other.queries for other in others)]


def parameter(key: str, kind: str) -> dict[str, Any]:
    """A parameter: its name, place, text and type, and that it is required where it is in the path."""
    if key == "name":
        return {"name": key, "in": "path", "description": f"name of the {kind}", "required": True, "type": "string"}
    form, place, text = PARAMETERS[key]
    required = {"required": True} if place == "path" else {}
    return {"name": key.split()[0], "in": place, "description": text} | required | {"type": form}
