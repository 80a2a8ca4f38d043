"""The functions of the language, one library a file: declaration, meaning, examples and cost stand together."""

from __future__ import annotations

from functools import lru_cache

from podless.cel.decls import Declarations
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
from podless.runtime.release import NEWEST, Release

_RULES = (
    operators,
    standard,
    time,
    optionals,
    strings,
    formatting,
    regex,
    lists,
    sets,
    urls,
    network,
    quantity,
    semver,
    formats,
    authz,
)


def kubernetes_libraries(release: Release = NEWEST) -> Declarations:
    """What the rules of a definition and the validations of a policy may use.

    release: in which they are new; stored ones may use all there is.
    """
    return _declarations(release, patches=False)


def patch_libraries(release: Release = NEWEST) -> Declarations:
    """What the mutations of a policy may use; as `kubernetes_libraries`."""
    return _declarations(release, patches=True)


@bounded_cache(16)
def _declarations(release: Release, *, patches: bool) -> Declarations:
    modules = (*_RULES, jsonpatch) if patches else _RULES
    return Declarations((module.LIBRARY for module in modules), homogeneous=True, lenient=True, release=release)


@lru_cache(maxsize=1)
def all_libraries() -> Declarations:
    """All there is, each library in its newest version."""
    modules = [printing if module is formatting else module for module in _RULES]
    return Declarations([module.LIBRARY for module in (*modules, jsonpatch, math, encoders)] + [strings.REVERSE])
