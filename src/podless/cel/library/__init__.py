"""The functions of CEL, one library a file: declaration, implementation and cost together."""

from __future__ import annotations

from functools import lru_cache

from podless.cel import macros
from podless.cel.functions import Declarations
from podless.cel.library import (
    authz,
    encoders,
    formats,
    formatting,
    jsonpatch,
    lists,
    math,
    network,
    operators,
    optionals,
    printing,
    quantity,
    regex,
    semver,
    sets,
    standard,
    strings,
    time,
    urls,
)
from podless.runtime.bounded import bounded_cache
from podless.runtime.release import ALL_ON, Release

# what rules of definitions and policies can use. podless.cel also has math, encoders and strings.REVERSE, which no
# Kubernetes release has, and the format() of cel-spec (printing) in place of the one that releases have (formatting)
_RULES = (
    *(operators, standard, time, optionals, strings, formatting, regex, lists),
    *(sets, urls, network, quantity, semver, formats, authz),
)


@lru_cache(maxsize=1)
def _list_features() -> frozenset[str]:
    """Return all features that releases added for new expressions."""
    features = set(macros.FEATURES)
    for module in (*_RULES, jsonpatch):
        features |= {module.LIBRARY.feature, *(overload.feature for overload in module.LIBRARY.overloads)}
    return frozenset(features - {""})


def reduce_release(release: Release) -> Release:
    """Return a release reduced to what new expressions depend on, so that releases with the same CEL are equal."""
    without = frozenset(name for name in _list_features() if not release.has_feature(name))
    return Release(without=without) if without else ALL_ON


@lru_cache(maxsize=1)
def oldest_release() -> Release:
    """Return a release without any feature that was added for new expressions."""
    return Release(without=_list_features())


def kubernetes_libraries(release: Release = ALL_ON, *, patches: bool = False) -> Declarations:
    """Return the declarations for rules of definitions and for policies.

    release: limits new expressions; stored ones may use everything. patches: for mutating policies.
    """
    return _declare_libraries(release, patches=patches)


@bounded_cache(16)
def _declare_libraries(release: Release, *, patches: bool) -> Declarations:
    modules = (*_RULES, jsonpatch) if patches else _RULES
    return Declarations((module.LIBRARY for module in modules), kubernetes=True, release=release)


@lru_cache(maxsize=1)
def all_libraries() -> Declarations:
    """Return all declarations, with the newest version of each library."""
    modules = [printing if module is formatting else module for module in _RULES]
    return Declarations([module.LIBRARY for module in (*modules, jsonpatch, math, encoders)] + [strings.REVERSE])
