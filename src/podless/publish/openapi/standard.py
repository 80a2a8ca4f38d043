"""What the documents of all group-versions share: names of components, parameters and groups, and a cache.

Source: the documents that kube-apiserver publishes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from podless.apis.catalog import GROUPS
from podless.runtime.bounded import bounded_cache
from podless.runtime.release import Release, served_release
from podless.structs.structfiles import folder_of

P = ParamSpec("P")
R = TypeVar("R")

REF = "#/components/schemas/"
CORE = "io.k8s.api.core.v1."
META = "io.k8s.apimachinery.pkg.apis.meta.v1."
VERSION = "io.k8s.apimachinery.pkg.version."
SCALE = "io.k8s.api.autoscaling.v1.Scale"

# name -> type and place; names with two texts have two keys
PARAMETERS: dict[str, tuple[str, str]] = {
    "allowWatchBookmarks": ("boolean", "query"),
    "continue": ("string", "query"),
    "dryRun": ("string", "query"),
    "fieldManager": ("string", "query"),
    "fieldManager for patch": ("string", "query"),
    "fieldSelector": ("string", "query"),
    "fieldValidation": ("string", "query"),
    "force": ("boolean", "query"),
    "gracePeriodSeconds": ("integer", "query"),
    "ignoreStoreReadErrorWithClusterBreakingPotential": ("boolean", "query"),
    "labelSelector": ("string", "query"),
    "limit": ("integer", "query"),
    "namespace": ("string", "path"),
    "orphanDependents": ("boolean", "query"),
    "path in path": ("string", "path"),
    "pretty": ("string", "query"),
    "propagationPolicy": ("string", "query"),
    "resourceVersion": ("string", "query"),
    "resourceVersionMatch": ("string", "query"),
    "sendInitialEvents": ("boolean", "query"),
    "shardSelector": ("string", "query"),
    "timeoutSeconds": ("integer", "query"),
    "watch": ("boolean", "query"),
}

# the security schemes
BEARER = {"description": "A token, as Bearer TOKEN.", "type": "apiKey", "name": "authorization", "in": "header"}


def find_package(group: str, version: str) -> str:
    """Return the prefix of the names of a built-in group's components."""
    package = GROUPS[group].package if group in GROUPS else ""
    return f"{package or f'io.k8s.api.{folder_of(group)}'}.{version}."


def find_home_package(home: str) -> tuple[str, str]:
    """Return the group of a .fields file, and the prefix of its component names."""
    folder, _, version = home.partition("/")
    group = next(name for name in GROUPS if folder_of(name) == folder)
    return group, find_package(group, version)


def cache_by_release(function: Callable[Concatenate[Release, P], R]) -> Callable[P, R]:
    """Cache a function for each served release, which it gets as its first argument."""
    cached = bounded_cache(64)(function)

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        return cached(served_release(), *args, **kwargs)

    return call
