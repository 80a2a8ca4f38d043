"""Validates an object with its metadata, for every write, with and without a server."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from podless.codec import gotext, sentfloats
from podless.codec.gotext import Copy, Literal
from podless.codec.serializer import Floats
from podless.kinds.kind import Kind, Version
from podless.kinds.strategy import Strategy
from podless.meta import names, objectmeta
from podless.meta.field import MAX, FieldError, FoundErrors, Path, TooManyErrors, invalid
from podless.runtime import lazy
from podless.runtime.jsonobject import Object
from podless.runtime.release import has
from podless.structs.structs import Struct

if TYPE_CHECKING:
    from podless.structs import gosyntax
else:
    gosyntax = lazy.LateModule("podless.structs.gosyntax")

_AS_IT_IS = nullcontext()


def validate_type(kind: Kind, version: Version, obj: Object, old: Object | None = None) -> list[FieldError]:
    """Return the errors of a custom object that has another kind or version; its values are not checked then.

    old: the object that it replaces.
    """
    expected = kind.api_versions[version.name]
    if not kind.custom or (obj.get("kind") == kind.kind and obj.get("apiVersion") == expected):
        return []
    errors = []
    if obj.get("kind") != kind.kind:
        errors.append(invalid("kind", obj.get("kind"), f"must be {kind.kind}"))
    if obj.get("apiVersion") != expected:
        errors.append(invalid("apiVersion", obj.get("apiVersion"), f"must be {expected}"))
    errors += kind.strategy.validate_other(version, obj, old)
    errors += kind.strategy.validate_rules(version, obj, old, errors)
    return errors


def validate_new(
    kind: Kind,
    version: Version,
    obj: Object,
    floats: Floats,
    *,
    namespaced: bool | None = None,
    schema_valid: bool = False,
) -> list[FieldError]:
    """Return the errors of a new object.

    namespaced: whether it needs a namespace; None: as the kind says. schema_valid: `Strategy.decode_and_check` has
    found it valid.
    """
    strategy, metadata = kind.strategy, obj["metadata"]
    placed = kind.namespaced if namespaced is None else namespaced
    look = FoundErrors()
    try:
        with look:
            errors = named = _new_metadata(kind, metadata, placed)
            if errors and not any(strategy.metadata.on_update):
                errors = []  # kinds whose rules ignore metadata report those errors first, and alone
        with _look_into(obj, floats, look, strategy):
            errors += strategy.validate_scale(version, obj) if schema_valid else strategy.validate(version, obj, None)
            errors += strategy.validate_rules(version, obj, None, errors, floats=bool(floats))
    except TooManyErrors:
        errors = look.errors[:MAX]
    errors = errors or named
    return errors if not errors or has("ValuesAsJSON") else [*_add_types(kind, version, errors)]


def validate_change(
    kind: Kind,
    version: Version,
    obj: Object,
    old: Object,
    warnings: list[str],
    floats: Floats,
    *,
    subresource: str = "",
    namespaced: bool | None = None,
    schema_valid: bool = False,
) -> list[FieldError]:
    """Return the errors of a changed object. warnings: receives errors that existed before and may stay.

    subresource: the written subresource. namespaced, schema_valid: as for a new object.
    """
    strategy = kind.strategy.for_subresource(subresource) if subresource else kind.strategy
    checks = {"status": strategy.validate_status, "finalize": strategy.validate_finalize}
    check = checks.get(subresource, strategy.validate) if subresource else strategy.validate
    look = FoundErrors()
    metadata, before = obj["metadata"], old["metadata"]
    try:
        with look:
            if objectmeta.is_untouched(metadata, before):  # true for most writes
                # as a real server: once as mutable, twice as immutable metadata
                entries = metadata.get("managedFields") or []
                errors = 3 * objectmeta.check_managed_fields(entries, "metadata.managedFields")
            else:
                errors = _changed_metadata(kind, strategy, metadata, before, subresource, namespaced)
        with _look_into(obj, floats, look, strategy):
            if not subresource and not has(strategy.checking.once):
                placed = kind.namespaced if namespaced is None else namespaced
                errors += [*_new_metadata(kind, obj["metadata"], placed), *strategy.validate(version, obj, None)]
            errors += strategy.validate_scale(version, obj) if schema_valid else check(version, obj, old)
            ratchet = subresource != "status" or has("StatusRatcheting")
            errors += strategy.validate_rules(version, obj, old, errors, warnings, floats=bool(floats), ratchet=ratchet)
    except TooManyErrors:
        errors = look.errors[:MAX]
    return errors if not errors or has("ValuesAsJSON") else [*_add_types(kind, version, errors)]


def _look_into(
    obj: Object, floats: Floats, look: FoundErrors, strategy: Strategy[Any]
) -> AbstractContextManager[object]:
    """Return the context for checks of values: with floats as sent, and with few of many errors if they repeat."""
    if not strategy.checking.repeats:
        return sentfloats.as_sent(obj, floats) if floats else _AS_IT_IS
    if not floats:
        return look
    pair = ExitStack()
    pair.enter_context(look)
    pair.enter_context(sentfloats.as_sent(obj, floats))
    return pair


def _add_types(kind: Kind, version: Version, errors: Iterable[FieldError]) -> Iterator[FieldError]:
    """Add Go types to errors that show values in Go's syntax, by the paths of the errors."""
    struct = kind.struct_of(version)
    for error in errors:
        value, text, written = error.value, None, Literal
        if isinstance(value, Literal) or error.__class__ is not FieldError:
            pass
        elif callable(value):
            yield replace(error, value=partial(_make_typed, struct, error.path, value))
            continue
        elif struct is not None:
            text = gosyntax.write_at(struct, error.path, value)
        elif error.path[:1] == ("metadata",):
            text = gosyntax.write_at(objectmeta.OBJECT_META, error.path[1:], value)
            written = Copy if error.path[1:] == ("ownerReferences",) else Literal
        elif isinstance(value, dict | list):
            text = gotext.format_interface(value)
        yield error if text is None else replace(error, value=written(text))


def _make_typed(struct: Struct | None, path: Path, make: Callable[[], Any]) -> Any:
    """Return a value that is made late, in Go's syntax if its type is known."""
    value = make()
    text = None if struct is None or isinstance(value, Literal) else gosyntax.write_at(struct, path, value)
    return value if text is None else Literal(text)


def _new_metadata(kind: Kind, metadata: Object, placed: bool) -> list[FieldError]:
    errors = objectmeta.validate_metadata(metadata, namespaced=placed, naming=kind.strategy.naming)
    return errors + _check_finalizers(kind, metadata) if "finalizers" in metadata else errors


def _changed_metadata(
    kind: Kind, strategy: Strategy[Kind], metadata: Object, before: Object, subresource: str, namespaced: bool | None
) -> list[FieldError]:
    placed = kind.namespaced if namespaced is None else namespaced
    errors = objectmeta.validate_metadata(metadata, namespaced=placed, naming=names.PATH_SEGMENTS)
    # a real server checks this once for all kinds, and for many kinds again with the kind's rules for names
    rechecks = {"status": strategy.metadata.on_status, "finalize": (0, 1)}
    recheck, changes = rechecks.get(subresource, strategy.metadata.on_update)
    if recheck:
        errors += recheck * objectmeta.validate_metadata(metadata, namespaced=placed, naming=strategy.naming)
    errors += (1 + changes) * objectmeta.validate_update(metadata, before)
    errors += (recheck + changes) * _check_finalizers(kind, metadata)
    return errors


def _check_finalizers(kind: Kind, metadata: Object) -> list[FieldError]:
    finalizers = metadata.get("finalizers")
    if not finalizers or not kind.strategy.metadata.qualified_finalizers:
        return []
    return objectmeta.check_qualified(finalizers, "metadata.finalizers")
