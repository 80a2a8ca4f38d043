"""The parameters of a policy: objects of any kind that a binding names or selects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from podless.kinds import conversion, view
from podless.kinds.kind import Kind, Version
from podless.kinds.state import State
from podless.meta import selectors
from podless.runtime.jsonobject import Object

_NONE = "no params found for policy binding with `Deny` parameterNotFoundAction"
_CLUSTER = "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources"


class Unconfigured(Exception):
    """A policy or binding names something that does not exist. The text says what."""


def find_kind(state: State, wanted: Mapping[str, str]) -> tuple[Kind, Version]:
    """Return the kind and version that a paramKind names. Raises Unconfigured."""
    group, _, version = wanted["apiVersion"].rpartition("/")
    for kind in state.registry.list_kinds_of(group, version):
        if kind.kind == wanted["kind"]:
            return kind, kind.by_version[version]
    named = f"{wanted['apiVersion']}, Kind={wanted['kind']}"
    raise Unconfigured(f"failed to find resource referenced by paramKind: '{named}'")


async def find_params(
    state: State, found: tuple[Kind, Version], wanted: Mapping[str, Any], namespace: str
) -> list[Object]:
    """Return the parameters that a paramRef names or selects. None if there are none and the binding allows that.

    namespace: of the request. Raises Unconfigured.
    """
    kind, version = found
    where = wanted.get("namespace") or ""
    if where and not kind.namespaced:
        raise Unconfigured("paramRef.namespace must not be provided for a cluster-scoped `paramKind`")
    where = where or namespace if kind.namespaced else ""
    if kind.namespaced and not where:
        raise Unconfigured(_CLUSTER)
    collection = await state.load_collection(kind)
    if wanted.get("name"):
        entry = collection.get(kind.key(where, wanted["name"]))
        entries = [] if entry is None else [entry]
    else:
        selector = selectors.from_object(wanted.get("selector") or {})
        under, _ = collection.entries_under(kind.keys.scope(where))
        entries = [entry for entry in under if selector.matches(entry.labels)]
    if not entries and wanted.get("parameterNotFoundAction") == "Deny":
        raise Unconfigured(_NONE)
    try:
        await state.converter.prepare_entries(kind, version, entries)
    except conversion.ConversionFailed as failed:
        raise Unconfigured(f"failed to convert object version: {failed}") from None
    return [view.load_object(kind, version, entry) for entry in entries]
