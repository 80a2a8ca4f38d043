"""The paths and operations of a kind, independent of the OpenAPI version.

Source: the recorded documents (paths, operation ids, parameters and answers); those of custom and of built-in kinds
differ in the dialect. Operations that are not served are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from podless.fields import patches
from podless.kinds.kind import Kind, Subresource, Version
from podless.publish.openapi.standard import META, PARAMETERS, SCALE, find_package
from podless.runtime.dataclass import dataclass
from podless.runtime.jsonobject import Object
from podless.runtime.lazy import compile_late
from podless.runtime.release import has
from podless.structs.gotypes import Bool, Int, ListOf, String
from podless.structs.structfiles import META_GROUP, find_description

TEXTS = {200: "OK", 201: "Created", 202: "Accepted", 401: "Unauthorized"}
STATUS = META + "Status"
EVENT = META + "WatchEvent"
_LIST = [
    "allowWatchBookmarks", "continue", "fieldSelector", "labelSelector", "limit", "resourceVersion",
    "resourceVersionMatch", "sendInitialEvents", "shardSelector", "timeoutSeconds", "watch",
]  # fmt: skip
_WATCHING = {"allowWatchBookmarks", "watch"}
_WRITE = ["dryRun", "fieldManager", "fieldValidation"]
_DELETE = [
    "dryRun", "gracePeriodSeconds", "ignoreStoreReadErrorWithClusterBreakingPotential", "orphanDependents",
    "propagationPolicy",
]  # fmt: skip
# parameters of some releases -> the change that the release must have
_SINCE = {"ignoreStoreReadErrorWithClusterBreakingPotential": "UnsafeDeletes", "shardSelector": "ShardSelectors"}
# action -> keys of its parameters in standard.PARAMETERS
QUERIES: dict[str, list[str]] = {
    "list": _LIST,
    "deletecollection": _LIST,
    "post": _WRITE,
    "put": _WRITE,
    "patch": ["dryRun", "fieldManager for patch", "fieldValidation", "force"],
    "delete": _DELETE,
    "watch": _LIST,
    "watchlist": _LIST,
}


@dataclass(frozen=True, slots=True)
class Dialect:
    """How the operations of custom and of built-in kinds differ."""

    consumes: tuple[str, ...]  # media types of a body
    produces: tuple[str, ...]  # media types of an answer
    streams: tuple[str, ...]  # additional media types of a watch's answer
    patches: tuple[str, ...]  # media types of a patch
    deletes: tuple[str, ...]  # parameters of deletecollection besides those of a list
    reads: tuple[str, ...]  # parameters of a read
    patched: tuple[int, ...]  # status codes of a patch
    watches: bool  # the old watch paths exist


_JSON_YAML = ("application/json", "application/yaml")
_PROTOBUF = "application/vnd.kubernetes.protobuf"
CUSTOM = Dialect(
    consumes=_JSON_YAML,
    produces=_JSON_YAML,
    streams=(),
    patches=patches.CUSTOM,
    deletes=(),
    reads=("resourceVersion",),
    patched=(200,),
    watches=False,
)
BUILTIN = Dialect(
    consumes=("*/*",),
    produces=(*_JSON_YAML, _PROTOBUF),
    streams=("application/json;stream=watch", f"{_PROTOBUF};stream=watch"),
    patches=patches.BUILTIN,
    deletes=tuple(_DELETE),
    reads=(),
    patched=(200, 201),
    watches=True,
)


@dataclass(frozen=True, slots=True)
class PathOperation:
    """One method of one path."""

    path: str
    name: str  # the operation id
    tag: str
    text: str
    method: str = "get"  # in lower case
    action: str = ""  # x-kubernetes-action
    queries: tuple[str, ...] = ()  # keys of standard.PARAMETERS, or (name, kind and type) of an option
    produces: tuple[str, ...] = BUILTIN.produces
    consumes: tuple[str, ...] = BUILTIN.produces
    gvk: dict[str, str] | None = None
    answer: str = ""  # the component of a successful answer, "" for a text
    codes: tuple[int, ...] = (200,)  # status codes of a successful answer
    body: str = ""  # the component of the body, "" for none
    required: bool = False  # whether the body is required


@dataclass(frozen=True, slots=True)
class _Method:
    """A row of the tables below. answer: list, object, status or event. body: "", object, patch or options."""

    method: str
    action: str
    verb: str
    answer: str = "object"
    body: str = ""
    codes: tuple[int, ...] = (200,)


_EVERYWHERE = (_Method("get", "list", "list", "list"),)
_COLLECTION = (
    _Method("get", "list", "list", "list"),
    _Method("post", "post", "create", "object", "object", (200, 201, 202)),
    _Method("delete", "deletecollection", "deletecollection", "status"),
)
_SUBRESOURCE = (
    _Method("get", "get", "read"),
    _Method("put", "put", "replace", "object", "object", (200, 201)),
    _Method("patch", "patch", "patch", "object", "patch"),
)
_WATCHED = (_Method("get", "watchlist", "watchlist", "event"),)
_WATCHED_ITEM = (_Method("get", "watch", "watch", "event"),)
_CONNECTED = ("get", "post")
_PROXIED = ("delete", "get", "head", "options", "patch", "post", "put")
_SCALED = {"group": "autoscaling", "version": "v1", "kind": "Scale"}
# verb -> operation on a subresource other than status and scale
_SUBRESOURCE_CODES = {"create": _COLLECTION[1], **dict(zip(("get", "update", "patch"), _SUBRESOURCE, strict=True))}
_ITEM = (*_SUBRESOURCE[:2], _Method("delete", "delete", "delete", "status", "options", (200, 202)), _SUBRESOURCE[2])
# verb -> description
_OLD = "Deprecated: list with the parameter watch."
_TEXTS = {
    "list": "List or watch {kind} objects.",
    "create": "Create {one}.",
    "deletecollection": "Delete the {kind} objects that are selected.",
    "read": "Get {one}.",
    "replace": "Write {one} anew.",
    "delete": "Delete {one}.",
    "patch": "Change {one} in part.",
    "watch": f"Watch {{one}}. {_OLD}",
    "watchlist": f"Watch {{kind}} objects. {_OLD}",
}
# verb of a hook's subresource -> method, action, start of the description
_HOOKED = {
    "get": ("get", "read", "Get"),
    "create": ("post", "create", "Ask for"),
    "update": ("put", "replace", "Write"),
}
# x-kubernetes-action -> verb in discovery
_VERBS = {"post": "create", "put": "update", "watchlist": "watch"}


def name_model(group: str, version: str, kind: str) -> str:
    """Return the component's name: the group's parts in reverse order, the version and the kind."""
    return ".".join([*reversed(group.split(".")), version, kind])


_BETWEEN = compile_late(r"(?:^[0-9])?[^A-Za-z0-9_]+|^[0-9]")  # separators of words in a path


def convert_to_camel_case(text: str, first: bool) -> str:
    """Return a text in CamelCase: letters, digits (not first) and underscores. first: capitalize the beginning."""
    words = _BETWEEN.split(text)
    capitalized = [word[:1].upper() + word[1:] for word in words]
    return "".join(capitalized if first else [words[0], *capitalized[1:]])


class _OperationsWriter:
    """Writes the operations of one version of one kind."""

    def __init__(self, kind: Kind, version: Version) -> None:
        self.kind = kind
        self.version = version
        self.dialect = CUSTOM if kind.custom else BUILTIN
        self.prefix, self.tag = name_group(kind.group, version.name)
        self.gvk = {"group": kind.group, "version": version.name, "kind": kind.kind}

    def name(self, noun: str) -> str:
        """Return the component name of a kind in this group-version."""
        group, version = self.kind.group, self.version.name
        return name_model(group, version, noun) if self.kind.custom else find_package(group, version) + noun

    def list_operations(self) -> list[PathOperation]:
        """Return all operations, in the order of their paths."""
        kind = self.kind
        root = f"/apis/{kind.group}/{self.version.name}" if kind.group else f"/api/{self.version.name}"
        inside = f"namespaces/{{namespace}}/{kind.plural}" if kind.namespaced else kind.plural
        operations: list[PathOperation] = []
        if kind.namespaced:
            operations += self._write_path(f"{root}/{kind.plural}", _EVERYWHERE, all_namespaces=True)
        operations += self._write_path(f"{root}/{inside}", _COLLECTION)
        item = f"{root}/{inside}/{{name}}"
        operations += self._write_path(item, _ITEM)
        if self.dialect.watches:
            if kind.namespaced:
                operations += self._write_path(f"{root}/watch/{kind.plural}", _WATCHED, all_namespaces=True)
            operations += self._write_path(f"{root}/watch/{inside}", _WATCHED)
            operations += self._write_path(f"{root}/watch/{inside}/{{name}}", _WATCHED_ITEM)
        for subresource in kind.more_subresources:
            operations += self._write_subresource(f"{item}/{subresource.name}", subresource)
        if self.version.scale is not None:
            operations += self._write_path(f"{item}/scale", _SUBRESOURCE, "scale")
        if self.version.status:
            operations += self._write_path(f"{item}/status", _SUBRESOURCE, "status")
        return operations

    def _write_subresource(self, path: str, subresource: Subresource) -> list[PathOperation]:
        """Return the operations of a subresource other than status and scale."""
        if subresource.hooks:
            return [self._write_hooked(path, verb, subresource) for verb in subresource.verbs]
        if not subresource.connects:
            return self._write_path(path, [_SUBRESOURCE_CODES[verb] for verb in subresource.verbs], subresource.name)
        proxies = "update" in subresource.verbs
        methods = _PROXIED if proxies else _CONNECTED
        connects = [self._write_connect(path, method, subresource) for method in methods]
        if proxies:
            connects += [self._write_connect(f"{path}/{{path}}", method, subresource) for method in methods]
        return connects

    def _write_hooked(self, path: str, verb: str, subresource: Subresource) -> PathOperation:
        """Return the operation of a hook's subresource for a verb, whose bodies have no schema."""
        method, action, texts = _HOOKED[verb]
        scope = "Namespaced" if self.kind.namespaced else ""
        name = f"{scope}{self.kind.kind}{convert_to_camel_case(subresource.name, first=True)}"
        return PathOperation(
            path=path,
            method=method,
            action=method,
            text=f"{texts} the {subresource.name} of one {self.kind.kind}.",
            name=f"{action}{self.prefix}{name}",
            tag=self.tag,
            queries=tuple(_list_path_parameters(path)),
            produces=_JSON_YAML,
            consumes=_JSON_YAML,
            gvk={**self.gvk, "kind": subresource.noun or self.kind.kind},
        )

    def _write_connect(self, path: str, method: str, subresource: Subresource) -> PathOperation:
        """Return the operation of a connect subresource for a method."""
        of, suffix = subresource.kind, "WithPath" if "{path}" in path else ""
        assert of is not None
        scope = "Namespaced" if self.kind.namespaced else ""
        name = f"{method.title()}{scope}{self.kind.kind}{subresource.name.title()}{suffix}"
        return PathOperation(
            path=path,
            method=method,
            action="connect",
            text=f"Connect to the {subresource.name} of one {self.kind.kind}.",
            name=f"connect{self.prefix}{name}",
            tag=self.tag,
            queries=tuple(sorted([*_list_path_parameters(path), *_list_option_parameters(of)], key=_rank_parameter)),
            produces=("*/*",),
            consumes=("*/*",),
            gvk={"group": of.group, "version": of.storage_version, "kind": of.kind},
        )

    def _write_path(
        self, path: str, routes: Iterable[_Method], sub: str = "", all_namespaces: bool = False
    ) -> list[PathOperation]:
        return [
            self._write_operation(path, route, sub, all_namespaces)
            for route in routes
            if sub or self._is_served(route.action)
        ]

    def _is_served(self, action: str) -> bool:
        """Return whether an action is served. The verbs of a terminating definition still count."""
        return self.kind.custom or _VERBS.get(action, action) in self.kind.verbs

    def _write_operation(self, path: str, route: _Method, sub: str, all_namespaces: bool) -> PathOperation:
        kind, dialect, one = self.kind, self.dialect, f"one {self.kind.kind}"
        declared = kind.find_subresource(sub)
        noun, gvk = self._describe_body(sub, declared.kind if declared is not None else None)
        refs = {
            "list": self.name(kind.list_kind),
            "object": noun,
            "status": STATUS,
            "event": EVENT,
            "patch": META + "Patch",
            "options": META + "DeleteOptions",
            "": "",
        }
        body, answer = route.body, route.answer
        queries = [*QUERIES.get(route.action, dialect.reads)]
        if route.action == "deletecollection" and dialect.deletes:
            body, queries = "options", [*{*queries, *dialect.deletes} - _WATCHING]
        if route.action == "delete" and kind.shown_deleted:
            answer = "object"
        queries = [name for name in queries if has(_SINCE.get(name, ""))]
        produces = dialect.produces + (dialect.streams if route.answer in ("list", "event") else ())
        if declared is not None and declared.options is not None:
            queries = [*queries, *_list_option_parameters(declared.options)]
            produces, answer = ("text/plain", *produces), ""
        return PathOperation(
            path=path,
            method=route.method,
            action=route.action,
            text=_TEXTS[route.verb].format(kind=kind.kind, one=f"the {sub} of one {kind.kind}" if sub else one),
            name=self._make_operation_id(route.verb, sub, all_namespaces),
            tag=self.tag,
            queries=tuple(sorted([*queries, *_list_path_parameters(path), "pretty"])),
            produces=produces,
            answer=refs[answer],
            codes=dialect.patched if route.action == "patch" else route.codes,
            consumes=dialect.patches if route.action == "patch" else dialect.consumes,
            body=refs[body],
            required=body in ("object", "patch"),
            gvk=gvk,
        )

    def _describe_body(self, sub: str, body_kind: Kind | None) -> tuple[str, Object]:
        """Return the definition and the group, version and kind of the objects of a path.

        body_kind: the kind that a subresource has of its own, None for none.
        """
        if body_kind is not None:
            version = body_kind.storage_version
            gvk = {"group": body_kind.group, "version": version, "kind": body_kind.kind}
            return find_package(body_kind.group, version) + body_kind.kind, gvk
        if sub == "scale":
            return SCALE, self.gvk if self.kind.custom else _SCALED
        return self.name(self.kind.kind), self.gvk

    def _make_operation_id(self, verb: str, sub: str, all_namespaces: bool) -> str:
        kind = self.kind
        scope = "Namespaced" if kind.namespaced and not all_namespaces else ""
        noun = f"{scope}{kind.kind}{sub.title()}{'ForAllNamespaces' if all_namespaces else ''}"
        if verb == "deletecollection":
            verb, noun = "delete", f"Collection{noun}"
        if verb == "watchlist":
            verb, noun = "watch", f"{scope}{kind.kind}List{'ForAllNamespaces' if all_namespaces else ''}"
        return verb + self.prefix + convert_to_camel_case(noun, True)


def _list_path_parameters(path: str) -> list[str]:
    descriptions = {"name": "name", "namespace": "namespace", "path": "path in path"}
    return [key for name, key in descriptions.items() if f"{{{name}}}" in path]


def _rank_parameter(key: str) -> tuple[str, bool]:
    """Return the sort key of a parameter: by name, path parameters before query parameters."""
    return key.split()[0], not key.endswith(" in path")


def _list_option_parameters(kind: Kind) -> list[str]:
    """Return the query parameters of an options kind: its fields of plain types."""
    result = []
    for field in kind.struct or ():
        of = field.type.item if isinstance(field.type, ListOf) else field.type
        form = "boolean" if isinstance(of, Bool) else "integer" if isinstance(of, Int) else "string"
        if isinstance(of, Bool | Int | String) and field.name not in ("kind", "apiVersion"):
            result.append(f"{field.name} {kind.kind} {form}")
    return result


def name_group(group: str, *version: str) -> tuple[str, str]:
    """Return a group's part of operation ids, and its tag."""
    group_label = group.removesuffix(".k8s.io") if group else "core"
    prefix = "".join(convert_to_camel_case(word, True) for word in (group_label, *version))
    return prefix, "_".join(convert_to_camel_case(word, False) for word in (group_label, *version))


def describe_paths(
    kind: Kind,
    version: Version,
    describe_operation: Callable[[PathOperation, list[str], str], Object],
    describe_parameters: Callable[[Iterable[str], str], list[Object]],
) -> dict[str, Object]:
    """Return the paths of one version of a kind, in the form of these functions.

    describe_operation: its second argument are the parameters that all operations of the path share, which are listed
    at the path instead. Both functions get the name of the kind.
    """
    operations_by_path: dict[str, list[PathOperation]] = {}
    for operation in _OperationsWriter(kind, version).list_operations():
        operations_by_path.setdefault(operation.path, []).append(operation)
    paths: dict[str, Object] = {}
    for path, operations in operations_by_path.items():
        first, *other_operations = operations
        shared = [key for key in first.queries if all(key in operation.queries for operation in other_operations)]
        paths[path] = {operation.method: describe_operation(operation, shared, kind.kind) for operation in operations}
        paths[path]["parameters"] = describe_parameters(shared, kind.kind)
    return paths


def make_parameter(key: str, kind: str) -> dict[str, Any]:
    """Return a parameter with name, place, description and type."""
    if key == "name":
        return {"name": key, "in": "path", "description": f"Name of the {kind}.", "required": True, "type": "string"}
    if key in PARAMETERS:
        form, location = PARAMETERS[key]
        text = find_description(META_GROUP, "Parameters", key) or find_description(META_GROUP, "DeleteOptions", key)
    else:
        name, of, form = key.split()
        location, text = "query", find_description("", of, name) or f"The option {name} of {of}."
    required = {"required": True} if location == "path" else {}
    return {"name": key.split()[0], "in": location, "description": text} | required | {"type": form}
