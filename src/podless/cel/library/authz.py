"""Kubernetes' authorizer library. Rules of definitions can name its functions, but only policies have an authorizer.

The values are objects of the caller with methods of the same names.
"""

from __future__ import annotations

from typing import Any

from podless.cel.cost import NEW_LIST, NEW_MESSAGE, PER_CHARACTER, UNIT, CallSite, Cost, Estimate, Range
from podless.cel.functions import Library, Overload, declare, parse_type
from podless.cel.values import size_of

AUTHORIZER, RESOURCE = parse_type("authorization.Authorizer"), parse_type("authorization.ResourceCheck")
_CHECK = 350_000


def _declare_method(signature: str, cost: Cost | None = None, feature: str = "") -> Overload:
    target, name = signature.partition("(")[0].removeprefix("<authorization.").split(">.")

    def call_method(target: Any, *args: Any) -> Any:
        return getattr(target, name)(*args)

    return declare(signature, f"{target.lower()}_{name}", call_method, cost or UNIT, feature)


def _measure_selector(length: Range) -> Range:
    count = length.scale(0.5).scale(NEW_LIST + NEW_MESSAGE)
    return Range(NEW_LIST, NEW_LIST).add(length.scale(PER_CHARACTER)).add(count)


def _estimate_selector(site: CallSite) -> Estimate:
    return _measure_selector(site.get_size(1)), None


def _count_selector(target: Any, text: str, *_: Any) -> int:
    size = size_of(text)
    return _measure_selector(Range(size, size)).high


_SELECTOR = Cost(_estimate_selector, _count_selector), "AuthorizeWithSelectors"
_CHECK_COST = Cost(lambda site: (Range(_CHECK, _CHECK), None), lambda *_: _CHECK)
LIBRARY = Library(
    "authz",
    (
        _declare_method("<authorization.Authorizer>.path(string) -> authorization.PathCheck"),
        _declare_method("<authorization.Authorizer>.group(string) -> authorization.GroupCheck"),
        _declare_method("<authorization.Authorizer>.serviceAccount(string, string) -> authorization.Authorizer"),
        _declare_method("<authorization.GroupCheck>.resource(string) -> authorization.ResourceCheck"),
        _declare_method("<authorization.ResourceCheck>.subresource(string) -> authorization.ResourceCheck"),
        _declare_method("<authorization.ResourceCheck>.namespace(string) -> authorization.ResourceCheck"),
        _declare_method("<authorization.ResourceCheck>.name(string) -> authorization.ResourceCheck"),
        _declare_method(
            "<authorization.ResourceCheck>.fieldSelector(string) -> authorization.ResourceCheck", *_SELECTOR
        ),
        _declare_method(
            "<authorization.ResourceCheck>.labelSelector(string) -> authorization.ResourceCheck", *_SELECTOR
        ),
        _declare_method("<authorization.PathCheck>.check(string) -> authorization.Decision", _CHECK_COST),
        _declare_method("<authorization.ResourceCheck>.check(string) -> authorization.Decision", _CHECK_COST),
        declare("<authorization.Decision>.allowed() -> bool", "decision_allowed", lambda value: value.allowed, UNIT),
        declare("<authorization.Decision>.reason() -> string", "decision_reason", lambda value: value.reason, UNIT),
        declare(
            "<authorization.Decision>.errored() -> bool", "decision_errored", lambda value: value.error != "", UNIT
        ),
        declare("<authorization.Decision>.error() -> string", "decision_error", lambda value: value.error, UNIT),
    ),
)
