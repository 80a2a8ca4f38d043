"""Validates the schemas of a CustomResourceDefinition, and which schemas it must have; warns of unknown formats."""

from __future__ import annotations

from contextlib import suppress
from hashlib import sha256
from typing import Literal

from podless.apis.apiextensions.definition import shared
from podless.apis.apiextensions.definition.shared import Layout
from podless.codec import serializer
from podless.meta import field
from podless.meta.field import FieldError
from podless.runtime.dataclass import dataclass
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import CURRENT, ReleaseRecorder
from podless.schema import Expressions, KeywordOptions, structural
from podless.schema import warnings as schema_warnings
from podless.schema.definition import has_unpruned_defaults, is_structural, walk_nodes

_V1_ONLY = "(cannot set default values in apiextensions.k8s.io/v1beta1 CRDs, must use apiextensions.k8s.io/v1)"
_EXTENSIONS = (
    "x-kubernetes-embedded-resource",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-int-or-string",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-list-type",
    "x-kubernetes-validations",
)
_TYPES = ("array", "boolean", "integer", "number", "object", "string")


# Digests of valid schemas, the oldest first, so that a schema is validated once although every write of a definition
# repeats it, often in several versions. Only schemas of new definitions are cached, because updates have looser rules.
# A result is valid for releases that agree with its notes, True for all. Any thread may use them (runtime/bounded.py).
_FAULTLESS: dict[bytes, ReleaseRecorder | Literal[True]] = {}
_CACHED = 4096


@dataclass(frozen=True)
class Checker:
    """Validates schemas.

    rules: compiles x-kubernetes-validations. options: faults that an update need not fix. new: no old definition
    affects the result.
    """

    rules: Expressions | None
    options: KeywordOptions
    new: bool

    def validate_schema(self, schema: Object | None, path: str, *, status: bool) -> list[FieldError]:
        """Validate the schema of a version. status: whether the version has a status subresource."""
        if schema is None:
            return []
        digest = _make_digest(schema, status)
        release = CURRENT.get()
        # no_default is the only option that makes the rules stricter than those for new definitions
        faultless = None if self.options.no_default else _FAULTLESS.get(digest)
        if faultless is not None and (faultless is True or faultless.agrees_with(release)):
            return []
        with ReleaseRecorder(release) as notes:
            errors = structural(schema, path, status=status, rules=self.rules, options=self.options)
        if not errors and digest and self.new and self.rules is not None and self.options == KeywordOptions():
            _FAULTLESS[digest] = notes if notes else True
            while len(_FAULTLESS) > _CACHED:
                # another thread has removed this entry, or changed the dict meanwhile
                with suppress(KeyError, RuntimeError, StopIteration):
                    del _FAULTLESS[next(iter(_FAULTLESS))]
        return errors


def _make_digest(schema: Object, status: bool) -> bytes:
    """Return a digest of everything that the result depends on, b"" if the schema is nested too deep."""
    try:
        return sha256(serializer.encode_for_comparison([schema, status])).digest()
    except RecursionError:
        return b""


def keyword_options(layout: Layout, before: Layout | None) -> KeywordOptions:
    """Return which faults to accept because the old definition or v1beta1 has them."""
    if before is None and not layout.legacy:
        return KeywordOptions()
    olds = before.schemas if before is not None else []
    defaults = _no_defaults(layout, before)
    strict = not layout.spec.get("preserveUnknownFields") or _needs_structure(layout)
    strict = strict or (not defaults and has_defaults(layout))
    return KeywordOptions(
        structural=strict or (not layout.legacy and all(map(is_structural, olds))),
        types=not layout.legacy
        and all((node.get("type") or "string") in _TYPES for schema in each(olds) for node in walk_nodes(schema)),
        pruned_defaults=not any(map(has_unpruned_defaults, olds)),
        no_default=defaults,
    )


def _no_defaults(layout: Layout, before: Layout | None) -> str:
    """Return why defaults are rejected, or "". v1beta1 rejects them, unless v1 has set some before."""
    return _V1_ONLY if layout.legacy and not (before is not None and has_defaults(before)) else ""


def _needs_structure(layout: Layout) -> bool:
    """Return whether a schema uses a keyword that requires a structural schema."""
    return any(node.get(name) for schema in layout.schemas for node in walk_nodes(schema) for name in _EXTENSIONS)


def check_given(layout: Layout, before: Layout | None) -> list[FieldError]:
    """Require a schema in each version.

    If the old definition lacked one, only served versions that prune need it.
    """
    if shared.schema_of_version(layout.common) is not None:
        return []
    missing = [index for index, version in enumerate(layout.versions) if shared.schema_of_version(version) is None]
    if not layout.legacy and (before is None or before.has_all_schemas):
        return [field.required(f"spec.versions[{number}].schema.openAPIV3Schema") for number in each(missing)]
    if layout.spec.get("preserveUnknownFields"):
        return []
    served = [number for number in each(missing) if layout.versions[number]["served"]]
    text = "because otherwise all fields are pruned"
    return [field.required(f"spec.versions[{number}].schema.openAPIV3Schema", text) for number in each(served)]


def check_defaults(layout: Layout, before: Layout | None) -> list[FieldError]:
    """Reject defaults in a definition that preserves unknown fields."""
    if not layout.spec.get("preserveUnknownFields") or not has_defaults(layout) or _no_defaults(layout, before):
        return []
    return [field.invalid("spec.preserveUnknownFields", True, "must be false in order to use defaults in the schema")]


def has_defaults(layout: Layout) -> bool:
    """Return whether a schema has a default."""
    return any("default" in node for schema in layout.schemas for node in walk_nodes(schema))


def warn_of_formats(new: Object, old: Object | None = None) -> list[str]:
    """Return warnings about formats that are not validated; on an update, only about new ones."""
    earlier = set() if old is None else set(_list_warnings(old))
    return [text for text in _list_warnings(new) if text not in earlier]


def _list_warnings(crd: Object) -> list[str]:
    """Return the warnings of all schemas, each once."""
    return list(dict.fromkeys(text for schema in shared.list_schemas(crd["spec"]) for text in schema_warnings(schema)))
