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


@lru_cache(maxsize=1)
def kubernetes_libraries() -> Declarations:
    """What the rules of a definition and the validations of a policy may use."""
    return Declarations((module.LIBRARY for module in _RULES), homogeneous=True, lenient=True)


@lru_cache(maxsize=1)
def patch_libraries() -> Declarations:
    """What the mutations of a policy may use."""
    return Declarations((module.LIBRARY for module in (*_RULES, jsonpatch)), homogeneous=True, lenient=True)


@lru_cache(maxsize=1)
def all_libraries() -> Declarations:
    """All there is, each library in its newest version."""
    modules = [printing if module is formatting else module for module in _RULES]
    return Declarations([module.LIBRARY for module in (*modules, jsonpatch, math, encoders)] + [strings.REVERSE])
