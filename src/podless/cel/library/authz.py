"""Kubernetes' authorizer library. Rules of definitions can name its functions, but only policies have an authorizer.

The values are objects of the caller with methods of the same names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from podless.cel.decls import Function, Library, declare_function, member
from podless.cel.sizes import NEW_LIST, NEW_MESSAGE, PER_CHARACTER, CallSite, Cost, Estimate, Range, unit_cost
from podless.cel.types import BOOL, STRING, Type, struct_type
from podless.cel.values import size_of

AUTHORIZER, PATH, GROUP, RESOURCE, DECISION = (
    struct_type(f"kubernetes.authorization.{name}")
    for name in ("Authorizer", "PathCheck", "GroupCheck", "ResourceCheck", "Decision")
)
_CHECK = 350_000


def _make_method_call(name: str) -> Callable[..., Any]:
    def call_method(target: Any, *args: Any) -> Any:
        return getattr(target, name)(*args)

    return call_method


def _declare_method(
    name: str, target: Type, args: tuple[Type, ...], result: Type, cost: Cost | None = None, feature: str = ""
) -> Function:
    method = member(
        f"{target.name.rpartition('.')[2].lower()}_{name}", (target, *args), result, _make_method_call(name)
    )
    return declare_function(name, method, cost=cost or unit_cost(), feature=feature)


def _estimate_selector(length: Range) -> Range:
    count = length.scale(0.5).scale(NEW_LIST + NEW_MESSAGE)
    return Range(NEW_LIST, NEW_LIST).add(length.scale(PER_CHARACTER)).add(count)


def _selector_estimate(site: CallSite) -> Estimate:
    return _estimate_selector(site.get_size(1)), None


def _selector_actual(target: Any, text: str, *_: Any) -> int:
    size = size_of(text)
    return _estimate_selector(Range(size, size)).high


_TEXT = (STRING,)
_SELECTOR = Cost(_selector_estimate, _selector_actual)
_CHECK_COST = Cost(lambda site: (Range(_CHECK, _CHECK), None), lambda *_: _CHECK)
LIBRARY = Library(
    "authz",
    (
        _declare_method("path", AUTHORIZER, _TEXT, PATH),
        _declare_method("group", AUTHORIZER, _TEXT, GROUP),
        _declare_method("serviceAccount", AUTHORIZER, (STRING, STRING), AUTHORIZER),
        _declare_method("resource", GROUP, _TEXT, RESOURCE),
        _declare_method("subresource", RESOURCE, _TEXT, RESOURCE),
        _declare_method("namespace", RESOURCE, _TEXT, RESOURCE),
        _declare_method("name", RESOURCE, _TEXT, RESOURCE),
        _declare_method("fieldSelector", RESOURCE, _TEXT, RESOURCE, _SELECTOR, "AuthorizeWithSelectors"),
        _declare_method("labelSelector", RESOURCE, _TEXT, RESOURCE, _SELECTOR, "AuthorizeWithSelectors"),
        _declare_method("check", PATH, _TEXT, DECISION, _CHECK_COST),
        _declare_method("check", RESOURCE, _TEXT, DECISION, _CHECK_COST),
        _declare_method("allowed", DECISION, (), BOOL),
        _declare_method("reason", DECISION, (), STRING),
        _declare_method("errored", DECISION, (), BOOL),
        _declare_method("error", DECISION, (), STRING),
    ),
)
