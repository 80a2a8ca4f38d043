"""Compiles a CustomResourceDefinition to a kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from podless.kinds.custom import CustomStrategy
from podless.kinds.declared import CONVERSION
from podless.kinds.kind import VERBS, VERBS_TERMINATING, Column, Kind, Scale, Subresource, Version, sort_versions
from podless.kinds.version import GivenSchema
from podless.meta.validation import is_condition_true


def compile_kind(
    definition: dict[str, Any],
    stored: bytes,
    *,
    created: int = 0,
    changed: int = 0,
    hooked: bool = False,
    answering: Sequence[Mapping[str, Any]] = (),
) -> Kind:
    """Return the kind of a definition with its served versions; schemas are compiled at first use.

    definition: decoded and defaulted. stored: the same as bytes. created, changed: revisions of the definition's
    creation and last change, if it is in a store. hooked: hooks of podless.hooks convert the objects, unless the
    definition names a webhook. answering: declared hooks that answer subresources.
    """
    spec, metadata = definition["spec"], definition["metadata"]
    names = spec["names"]
    accepted = definition.get("status", {}).get("acceptedNames") or {}
    accepted = accepted if accepted.get("kind") else names
    size = len(stored) // len(spec["versions"])
    versions = [(_make_version(version, stored, size), bool(version.get("served"))) for version in spec["versions"]]
    storage = next(version["name"] for version in spec["versions"] if version.get("storage"))
    terminating = is_condition_true(definition, "Terminating")
    return Kind(
        group=spec["group"],
        plural=names["plural"],
        kind=accepted["kind"],
        singular=accepted.get("singular") or accepted["kind"].lower(),
        list_kind=accepted.get("listKind") or f"{accepted['kind']}List",
        namespaced=spec["scope"] == "Namespaced",
        versions=sort_versions([version for version, served in versions if served]),
        unserved=tuple(version for version, served in versions if not served),
        storage_version=storage,
        strategy=CustomStrategy(preserve=bool(spec.get("preserveUnknownFields"))),
        preserve=bool(spec.get("preserveUnknownFields")),
        short_names=tuple(accepted.get("shortNames") or ()),
        categories=tuple(accepted.get("categories") or ()),
        uid=metadata.get("uid") or "",
        generation=metadata.get("generation") or 0,
        created=created,
        changed=changed,
        terminating=terminating,
        webhook=_find_conversion(definition, hooked),
        more_subresources=_make_subresources(answering),
        verbs=VERBS_TERMINATING if terminating else VERBS,
        hashed=any(served and version.name == storage for version, served in versions),
    )


CONVERSION_HOOK = "podless.dev/conversion-hook"  # the annotation with the name of a hook


def _find_conversion(definition: dict[str, Any], hooked: bool) -> Mapping[str, Any] | None:
    """Return the webhook, hook or declared rules that convert the objects; None if only the apiVersion differs."""
    conversion = definition["spec"].get("conversion") or {}
    if conversion.get("strategy") == "Webhook":
        return MappingProxyType(conversion["webhook"])
    annotations = definition["metadata"].get("annotations") or {}
    named = annotations.get(CONVERSION_HOOK) or ""
    if not named and (rules := annotations.get(CONVERSION)):
        return MappingProxyType({"rules": rules})
    return MappingProxyType({"hook": named}) if hooked or named else None


def _make_subresources(answering: Sequence[Mapping[str, Any]]) -> tuple[Subresource, ...]:
    """Return the subresources that hooks answer. Each verb of a subresource can have its own hook."""
    hooks_by_name: dict[str, dict[str, Mapping[str, Any]]] = {}
    for hook in answering:
        hooks_by_name.setdefault(hook["subresource"], {}).update(dict.fromkeys(hook["verbs"], hook))
    return tuple(
        Subresource(
            name, tuple(hooks), hooks=hooks, noun=next((entry["kind"] for entry in hooks.values() if entry["kind"]), "")
        )
        for name, hooks in hooks_by_name.items()
    )


def _make_version(spec: dict[str, Any], stored: bytes, size: int) -> Version:
    subresources = spec.get("subresources") or {}
    scale = subresources.get("scale")
    columns = spec.get("additionalPrinterColumns")
    return Version(
        name=spec["name"],
        source=GivenSchema(stored, spec["name"], size),
        columns=tuple(map(_make_column, columns)) if columns else None,
        status="status" in subresources,
        scale=_make_scale(scale) if scale else None,
        selectable=tuple(field["jsonPath"] for field in spec.get("selectableFields") or ()),
        deprecated=bool(spec.get("deprecated")),
        deprecation_warning=spec.get("deprecationWarning") or "",
    )


def _make_column(spec: dict[str, Any]) -> Column:
    return Column(
        name=spec["name"],
        type=spec["type"],
        json_path=spec["jsonPath"],
        format=spec.get("format") or "",
        description=spec.get("description") or "",
        priority=spec.get("priority") or 0,
    )


def _make_scale(spec: dict[str, Any]) -> Scale:
    return Scale(spec["specReplicasPath"], spec["statusReplicasPath"], spec.get("labelSelectorPath") or "")
