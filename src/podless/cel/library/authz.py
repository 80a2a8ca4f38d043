"""Kubernetes' authorizer library. Rules of definitions can name its functions, but only policies have an authorizer.

The values are objects of the caller with methods of the same names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from podless.cel.decls import Function, Library, declare_function, member
from podless.cel.sizes import NEW_LIST, NEW_MESSAGE, PER_CHARACTER, Cost, Estimate, Range, Site, once
from podless.cel.types import BOOL, STRING, Type, struct
from podless.cel.values import size_of

AUTHORIZER, PATH, GROUP, RESOURCE, DECISION = (
    struct(f"kubernetes.authorization.{name}")
    for name in ("Authorizer", "PathCheck", "GroupCheck", "ResourceCheck", "Decision")
)
_CHECK = 350_000


def _method(name: str) -> Callable[..., Any]:
    def call(target: Any, *args: Any) -> Any:
        return getattr(target, name)(*args)

    return call


def _declare(
    name: str, target: Type, args: tuple[Type, ...], result: Type, cost: Cost | None = None, feature: str = ""
) -> Function:
    overload = member(f"{target.name.rpartition('.')[2].lower()}_{name}", (target, *args), result, _method(name))
    return declare_function(name, overload, cost=cost or once(), feature=feature)


def _selected(length: Range) -> Range:
    count = length.scaled(0.5).scaled(NEW_LIST + NEW_MESSAGE)
    return Range(NEW_LIST, NEW_LIST).plus(length.scaled(PER_CHARACTER)).plus(count)


def _selector_estimate(site: Site) -> Estimate:
    return _selected(site.size(1)), None


def _selector_actual(target: Any, text: str, *_: Any) -> int:
    size = size_of(text)
    return _selected(Range(size, size)).high


_TEXT = (STRING,)
_SELECTOR = Cost(_selector_estimate, _selector_actual)
_ASKED = Cost(lambda site: (Range(_CHECK, _CHECK), None), lambda *_: _CHECK)
LIBRARY = Library(
    "authz",
    (
        _declare("path", AUTHORIZER, _TEXT, PATH),
        _declare("group", AUTHORIZER, _TEXT, GROUP),
        _declare("serviceAccount", AUTHORIZER, (STRING, STRING), AUTHORIZER),
        _declare("resource", GROUP, _TEXT, RESOURCE),
        _declare("subresource", RESOURCE, _TEXT, RESOURCE),
        _declare("namespace", RESOURCE, _TEXT, RESOURCE),
        _declare("name", RESOURCE, _TEXT, RESOURCE),
        _declare("fieldSelector", RESOURCE, _TEXT, RESOURCE, _SELECTOR, "AuthorizeWithSelectors"),
        _declare("labelSelector", RESOURCE, _TEXT, RESOURCE, _SELECTOR, "AuthorizeWithSelectors"),
        _declare("check", PATH, _TEXT, DECISION, _ASKED),
        _declare("check", RESOURCE, _TEXT, DECISION, _ASKED),
        _declare("allowed", DECISION, (), BOOL),
        _declare("reason", DECISION, (), STRING),
        _declare("errored", DECISION, (), BOOL),
        _declare("error", DECISION, (), STRING),
    ),
)
