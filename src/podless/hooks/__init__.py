"""Python hooks that validate, mutate, default and convert objects, and answer subresources.

    from podless import hooks

    @hooks.validate("widgets.example.com")
    def check_size(obj):
        if obj["spec"]["size"] > 9:
            raise hooks.Denied("spec.size is at most 9")

`podless serve --hooks app.py` and `Server(hooks="app.py")` load them. A hook is asked for the parameters that its
function names, and gets copies of its own:

| parameter | value |
|---|---|
| obj | the object, None for a delete |
| old | the object before the write, None for a create |
| request | a `Request`: operation, name, namespace, user, and what else an AdmissionRequest has |
| version | of a conversion: the name of the wanted version, such as "v2" |
| body | of a subresource: the body of the request, None if it is empty |

A parameter that is annotated with a class gets an instance of it (podless.models says which classes). Hooks run in
worker processes, never on the event loop: they share no memory with the server (podless.hooks.worker).
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import ModuleType
from typing import Any, TypeVar

from podless.runtime.dataclass import dataclass
from podless.runtime.jsonobject import Object

__all__ = ["Denied", "Hook", "Request", "convert", "default", "find_hooks", "mutate", "subresource", "validate"]

F = TypeVar("F", bound=Callable[..., Any])
# files (*.py), names of modules, modules, or decorated functions
Sources = str | os.PathLike[str] | ModuleType | Callable[..., Any] | Iterable[Any]

VALIDATE, MUTATE, DEFAULT, CONVERT, SUBRESOURCE = "validate", "mutate", "default", "convert", "subresource"
_MARK = "__podless_hooks__"
_PARAMETERS = {
    VALIDATE: ("obj", "old", "request"),
    MUTATE: ("obj", "old", "request"),
    DEFAULT: ("obj", "request"),
    CONVERT: ("obj", "version"),
    SUBRESOURCE: ("obj", "body", "request"),
}
_VERBS = ("get", "create", "update")
_TEXT_OPTIONS = {
    "scope": "*",
    "match_policy": "Equivalent",
    "failure_policy": "Fail",
    "side_effects": "None",
}  # with their defaults
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


class Denied(Exception):
    """Raised by a hook to deny a request; the client gets the text.

    code: the HTTP status code, 400 or more (default: 403). reason: of the Status (default: "Forbidden"). details: of
    the Status. Raises TypeError for a code that is not an int, or details that are not a dict.
    """

    def __init__(
        self, message: str = "", code: int = 403, reason: str = "Forbidden", details: Object | None = None
    ) -> None:
        super().__init__(message)
        if not isinstance(code, int) or isinstance(code, bool):
            raise TypeError(f"a code is a whole number, not {type(code).__name__}")
        if not isinstance(details, dict | None):
            raise TypeError(f"details are a dict, not {type(details).__name__}")
        self.status: Object = {"code": code, "reason": str(reason), "message": str(message)}
        if details is not None:
            self.status["details"] = details


class Request:
    """The request that a hook judges. given: the AdmissionRequest, without its objects.

    warnings: texts for the client. annotations: for the audit log.
    """

    def __init__(self, given: Object) -> None:
        self.given = given
        self.warnings: list[str] = []
        self.annotations: dict[str, str] = {}

    @property
    def operation(self) -> str:
        """CREATE, UPDATE, DELETE or CONNECT."""
        return str(self.given["operation"])

    @property
    def name(self) -> str:
        """Name of the object, "" if it has none yet."""
        return str(self.given.get("name") or "")

    @property
    def namespace(self) -> str:
        """Namespace of the object, "" for a cluster-scoped one."""
        return str(self.given.get("namespace") or "")

    @property
    def subresource(self) -> str:
        """The written subresource, "" for the object itself."""
        return str(self.given.get("subResource") or "")

    @property
    def dry_run(self) -> bool:
        """Whether the request will store nothing."""
        return bool(self.given.get("dryRun"))

    @property
    def user(self) -> Object:
        """The userInfo: username, uid, groups, extra."""
        return dict(self.given.get("userInfo") or {})

    def warn(self, text: str) -> None:
        """Send the client a warning."""
        self.warnings.append(str(text))

    def annotate(self, key: str, value: str) -> None:
        """Add an annotation to the audit event of the request; its key gets the name of the hook as a prefix."""
        self.annotations[str(key)] = str(value)


@dataclass(frozen=True)
class Hook:
    """A declared hook.

    declaration: its webhook in a webhook configuration, with defaults; for a conversion `resource`, `from` and `to`.
    parameters: the function's parameters, each with the class that the object is read as, None for a dict.
    """

    kind: str
    name: str
    declaration: Object
    function: Callable[..., Any]
    parameters: Mapping[str, type | None]

    @property
    def is_async(self) -> bool:
        """Whether the function is a coroutine function."""
        return inspect.iscoroutinefunction(self.function)

    def describe(self) -> Object:
        """Return everything that the server must know of the hook, as JSON."""
        return {
            "kind": self.kind,
            "name": self.name,
            "given": self.declaration,
            "async": self.is_async,
            "takes": sorted(self.parameters),
        }


def validate(*resources: str, **options: Any) -> Callable[[F], F]:
    """Declare a hook that accepts or denies requests: raise `Denied` to deny one.

    resources: "widgets.example.com", "widgets.example.com/status", "pods", "*.example.com" or "*.*". options, with
    their meaning in a ValidatingWebhook:

    operations (default: CREATE and UPDATE), versions (default: all), scope ("Namespaced", "Cluster" or "*"),
    namespace_selector, object_selector, match_conditions (expressions by name), match_policy (default: "Equivalent"),
    failure_policy ("Fail" or "Ignore"; default: "Fail"), timeout (1 to 30 seconds; default: 10), side_effects ("None",
    "NoneOnDryRun", "Some" or "Unknown"; default: "None"), name (default: that of the function).

    Raises ValueError for a declaration that cannot work.
    """
    _require_resources(VALIDATE, *resources)
    return lambda function: _declare_hook(VALIDATE, function, _read_options(function, resources, options))


def mutate(*resources: str, **options: Any) -> Callable[[F], F]:
    """Declare a hook that changes objects: change `obj` in place, or return another one; `Denied` denies the request.

    resources and options as for `validate`; also reinvocation_policy ("Never" or "IfNeeded"; default: "Never").
    """
    _require_resources(MUTATE, *resources)
    return lambda function: _declare_hook(MUTATE, function, _read_options(function, resources, options, changes=True))


def default(*resources: str, **options: Any) -> Callable[[F], F]:
    """Declare a hook that fills in fields that the client left out; it never replaces a value that is set.

    These hooks run before all others. resources and options as for `mutate`.
    """
    _require_resources(DEFAULT, *resources)
    return lambda function: _declare_hook(DEFAULT, function, _read_options(function, resources, options, changes=True))


def convert(
    resource: str, source: str = "", target: str = "", *, timeout: int = 30, name: str = ""
) -> Callable[[F], F]:
    """Declare a hook that returns an object in another version, for a definition with `conversion.strategy: None`.

    resource: the name of the definition, such as "widgets.example.com". source, target: the versions that the function
    converts between, such as "v1" and "v2"; "" for all. The server sets apiVersion, and keeps the metadata except
    labels and annotations. timeout: seconds for up to 500 objects.
    """

    _require_resources(CONVERT, resource)

    def declare_function(function: F) -> F:
        declaration = {"resource": resource, "from": source, "to": target, "timeoutSeconds": _read_timeout(timeout)}
        return _declare_hook(CONVERT, function, {"name": name or _name_of(function), **declaration})

    return declare_function


def subresource(
    resource: str,
    *,
    verbs: Sequence[str] = ("create",),
    kind: str = "",
    side_effects: str = "Some",
    timeout: int = 10,
    name: str = "",
) -> Callable[[F], F]:
    """Declare a function that answers a subresource of a custom resource, such as "widgets.example.com/restart".

    The function returns the answer, a dict; `Denied` is an error. verbs: of "get", "create" (POST) and "update" (PUT).
    kind: of the answer, in discovery (default: the kind of the object). side_effects: "None" or "NoneOnDryRun" for
    functions that accept dry runs; podless rejects them for "Some". timeout: 1 to 30 seconds.

    Raises ValueError for an invalid declaration.
    """
    _require_resources(SUBRESOURCE, resource)
    definition, _, name_below = resource.partition("/")
    if "." not in definition or not _LABEL.fullmatch(name_below) or name_below in ("status", "scale"):
        raise ValueError(f"{resource!r} names no subresource; write 'widgets.example.com/restart'")
    if not verbs or not set(verbs) <= {*_VERBS}:
        raise ValueError(f"{resource}: verbs are some of {', '.join(_VERBS)}")
    if side_effects not in ("None", "NoneOnDryRun", "Some"):
        raise ValueError(f"{resource}: side_effects is None, NoneOnDryRun or Some")

    def declare_function(function: F) -> F:
        declaration = {
            "name": name or _name_of(function),
            "resource": definition,
            "subresource": name_below,
            "verbs": [verb for verb in _VERBS if verb in verbs],
            "kind": kind,
            "sideEffects": side_effects,
            "timeoutSeconds": _read_timeout(timeout),
        }
        return _declare_hook(SUBRESOURCE, function, declaration)

    return declare_function


def find_hooks(namespace: Mapping[str, Any]) -> list[Hook]:
    """Return the hooks of a module's namespace, in the order of their definition. Raises ValueError for equal names."""
    hooks = [hook for value in namespace.values() for hook in getattr(value, _MARK, ()) if callable(value)]
    unique = list({id(hook): hook for hook in hooks}.values())
    check_names(unique)
    return unique


def check_names(hooks: Sequence[Hook]) -> None:
    """Raise ValueError if two hooks of one kind have the same name, or answer the same subresource."""
    seen: set[tuple[str, str]] = set()
    answered: set[tuple[str, str]] = set()
    for hook in hooks:
        if (hook.kind, hook.name) in seen:
            raise ValueError(f"there are two {hook.kind} hooks with the name {hook.name!r}: give one of them name=...")
        seen.add((hook.kind, hook.name))
        for verb in hook.declaration["verbs"] if hook.kind == SUBRESOURCE else ():
            subresource = f"{hook.declaration['resource']}/{hook.declaration['subresource']}", verb
            if subresource in answered:
                raise ValueError(f"there are two hooks that answer {verb} of {subresource[0]}")
            answered.add(subresource)


def _require_resources(kind: str, *resources: Any) -> None:
    """Raise ValueError for a function in place of a resource: a decorator that is not called."""
    for function in filter(callable, resources):
        example = "widgets.example.com/restart" if kind == SUBRESOURCE else "widgets.example.com"
        raise ValueError(f'{_name_of(function)}: write @hooks.{kind}("{example}")')


def _name_of(function: Callable[..., Any]) -> str:
    return str(getattr(function, "__name__", type(function).__name__))


def _declare_hook(kind: str, function: F, declaration: Object) -> F:
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise ValueError(f"{_name_of(function)}: a hook returns its result, and cannot yield")
    names, accepted = _PARAMETERS[kind], dict[str, type | None]()
    for parameter in _read_signature(function).parameters.values():
        if parameter.name in names:
            accepted[parameter.name] = _class_of(parameter.annotation)
        elif parameter.default is parameter.empty and parameter.kind not in (
            parameter.VAR_KEYWORD,
            parameter.VAR_POSITIONAL,
        ):
            raise ValueError(
                f"{_name_of(function)}: a {kind} hook knows no parameter {parameter.name!r}; it has {', '.join(names)}"
            )
    hook = Hook(kind, declaration["name"], declaration, function, accepted)
    setattr(function, _MARK, (*getattr(function, _MARK, ()), hook))
    return function


def _class_of(annotation: Any) -> type | None:
    """Return the class of a parameter that gets an instance of it, None if the parameter gets a dict."""
    plain = annotation is inspect.Parameter.empty or not isinstance(annotation, type) or issubclass(annotation, dict)
    return None if plain else annotation


def _read_signature(function: Callable[..., Any]) -> inspect.Signature:
    try:
        return inspect.signature(function, eval_str=True)
    except (NameError, TypeError, AttributeError):  # an annotation that exists only for type checkers
        return inspect.signature(function)


def _read_options(
    function: Callable[..., Any], resources: Sequence[str], options: Mapping[str, Any], *, changes: bool = False
) -> Object:
    """Return the hook's options as a webhook of a webhook configuration. Raises ValueError."""
    remaining = dict(options)
    name = remaining.pop("name", "") or _name_of(function)
    if not resources:
        raise ValueError(f"{name}: name at least one resource, such as 'widgets.example.com'")
    operations = remaining.pop("operations", ("CREATE", "UPDATE"))
    if isinstance(operations, str):
        operations = (operations,)
    texts = {key: remaining.pop(key, value) for key, value in _TEXT_OPTIONS.items()}
    rule = {"operations": [*operations], "apiVersions": [*remaining.pop("versions", ("*",))], "scope": texts["scope"]}
    conditions = remaining.pop("match_conditions", None) or {}
    options_given = {
        "name": name,
        "rules": [_parse_rule(name, resource) | rule for resource in resources],
        "matchPolicy": texts["match_policy"],
        "failurePolicy": texts["failure_policy"],
        "sideEffects": texts["side_effects"],
        "timeoutSeconds": _read_timeout(remaining.pop("timeout", 10)),
        "namespaceSelector": remaining.pop("namespace_selector", None) or {},
        "objectSelector": remaining.pop("object_selector", None) or {},
    }
    if conditions:
        options_given["matchConditions"] = [{"name": key, "expression": text} for key, text in conditions.items()]
    if changes:
        options_given["reinvocationPolicy"] = remaining.pop("reinvocation_policy", "Never")
    if remaining:
        raise ValueError(f"{name}: a hook has no option {', '.join(map(repr, remaining))}")
    return options_given


def _parse_rule(name: str, resource: str) -> Object:
    """Return the groups and resources of "plural.group/subresource". Raises ValueError."""
    full_name, _, subresource = resource.partition("/")
    plural, _, group = full_name.partition(".")
    if not plural:
        raise ValueError(f"{name}: {resource!r} names no resource; write 'widgets.example.com'")
    return {"apiGroups": [group], "resources": [f"{plural}/{subresource}" if subresource else plural]}


def _read_timeout(seconds: Any) -> int:
    if not isinstance(seconds, int) or not 1 <= seconds <= 30:
        raise ValueError(f"a timeout is a whole number from 1 to 30 seconds, not {seconds!r}")
    return seconds
