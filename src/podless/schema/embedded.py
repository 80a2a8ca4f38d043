"""Embedded resources (x-kubernetes-embedded-resource): their apiVersion, kind and metadata.

Before defaulting, metadata is coerced: read as ObjectMeta and written back, which drops unknown fields. After
defaulting, it is validated as the metadata of an object.
"""

from __future__ import annotations

from typing import Any

from podless.meta import field, names, objectmeta
from podless.meta.field import FieldError, Key, Path
from podless.runtime.lazy import compile_late
from podless.runtime.meter import charge, each
from podless.runtime.release import has
from podless.runtime.sorting import sort_texts
from podless.schema.errorvalues import MAX_ERRORS, show_value
from podless.schema.node import Node
from podless.structs import structs
from podless.structs.structfiles import load_struct

OBJECT_META = load_struct("meta/v1", "ObjectMeta")

_VERSION = compile_late(r"^(?:[^/]+/)?[^/]+\Z")
_KIND = compile_late(r"^[A-Za-z](?:[-A-Za-z0-9]{0,61}[A-Za-z0-9])?\Z")
_NAME = compile_late(r"^[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?\Z")
_SPACE = compile_late(r"^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?\Z")
_LABEL = compile_late(r"^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?\Z")
_PREFIX = compile_late(r"[a-z0-9]++(?:-++[a-z0-9]++)*+(?:\.[a-z0-9]++(?:-++[a-z0-9]++)*+)*+")


class Malformed(ValueError):
    """An embedded resource cannot be read. A real server rejects the request with 400.

    error: the reason and the field.
    """

    def __init__(self, error: FieldError) -> None:
        super().__init__(str(error))
        self.error = error


def coerce_embedded(
    value: Any, node: Node, unknown: list[str] | None = None, drop: bool = False, root: bool = False, path: Path = ()
) -> None:
    """Coerce every embedded resource in place.

    unknown: receives the sorted paths of fields that ObjectMeta does not have. drop: drop fields of a wrong type, as
    for stored objects; else Malformed is raised. root: the value itself is a resource. path: of the value.
    """
    texts: list[str] = []
    _coerce_node(value, node, path, texts, drop, root or node.embedded)
    if unknown is not None:
        unknown += sort_texts(texts)


def _coerce_node(value: Any, node: Node, path: Path, texts: list[str], drop: bool, resource: bool) -> None:
    charge(1)
    if isinstance(value, dict):
        for key in list(each(value)):
            item, child = value[key], node.find_field(key)
            if item is None and child is not None and not child.nullable and not child.has_default:
                continue  # a real server drops these nulls before coercion
            if resource and key in ("apiVersion", "kind") and not isinstance(item, str):
                if not drop:
                    raise Malformed(field.invalid((*path, key), show_value(item), "must be a string"))
                del value[key]
            elif resource and key == "metadata":
                value[key] = item = _coerce_metadata(item, (*path, key), texts, drop)
            if child is not None and isinstance(item, dict | list):
                at = (*path, key if key in node.properties else Key(key))
                _coerce_node(item, child, at, texts, drop, child.embedded)
    elif isinstance(value, list) and node.items is not None:
        for index, item in enumerate(each(value)):
            if isinstance(item, dict | list):
                _coerce_node(item, node.items, (*path, index), texts, drop, node.items.embedded)


def _coerce_metadata(value: Any, path: Path, unknown: list[str], drop: bool) -> Any:
    paths: list[str] = []
    try:
        read = objectmeta.coerce_metadata(value, paths)
    except structs.DecodeError as error:
        if not drop:
            raise Malformed(field.invalid(path, show_value(value), str(error))) from None
        if not isinstance(value, dict):
            return value
        paths.clear()
        read = objectmeta.salvage_metadata(value, paths)
    unknown += [field.format_path(path) + name.removeprefix("metadata") for name in each(paths)]
    if read.get("creationTimestamp", "") is None:
        del read["creationTimestamp"]
    return read


def validate_embedded(value: Any, node: Node, path: Path = (), resource: bool = False) -> list[FieldError]:
    """Return the errors of the embedded resources in a value. resource: the value itself is one."""
    errors: list[FieldError] = []
    _validate_node(value, node, path, errors, resource or node.embedded)
    return errors


def _validate_node(value: Any, node: Node, path: Path, errors: list[FieldError], resource: bool) -> None:
    charge(1)
    if isinstance(value, dict):
        if resource:
            errors += _validate_resource(value, path)
        for key, item in each(value).items():
            child = node.find_field(key)
            if child is not None and isinstance(item, dict | list):
                at = (*path, key if key in node.properties else Key(key))
                _validate_node(item, child, at, errors, child.embedded)
    elif isinstance(value, list) and node.items is not None:
        for index, item in enumerate(each(value)):
            if isinstance(item, dict | list) and len(errors) < MAX_ERRORS:
                _validate_node(item, node.items, (*path, index), errors, node.items.embedded)


def _validate_resource(value: dict[str, Any], path: Path) -> list[FieldError]:
    detail = "" if has("BareRequired") else "must not be empty"
    errors = [field.required((*path, key), detail) for key in ("apiVersion", "kind") if key not in value]
    for key, item in each(value).items():
        at = (*path, key)
        if key == "metadata":
            errors += _validate_metadata(item, at)
        elif key not in ("apiVersion", "kind"):
            continue
        elif not isinstance(item, str):
            errors.append(field.invalid(at, show_value(item), "must be a string"))
        elif not item:
            errors.append(field.invalid(at, item, "must not be empty"))
        elif key == "apiVersion" and item.count("/") > 1:
            errors.append(field.invalid(at, item, f"unexpected GroupVersion string: {item}"))
        elif key == "kind" and (words := names.check_label_1035(item.lower())):
            text = f"may have mixed case, but should otherwise match: {','.join(words)}"
            errors.append(field.invalid(at, item, text))
    return errors


def _validate_metadata(value: Any, path: Path) -> list[FieldError]:
    try:
        read = structs.decode_struct(OBJECT_META, value)
    except structs.DecodeError as error:
        return [field.invalid(path, show_value(value), str(error))]
    read.setdefault("name", "fakename")  # an embedded resource, such as a template, needs no name
    namespaced = bool(read.get("namespace"))
    return objectmeta.validate_metadata(
        read, namespaced=namespaced, naming=names.PATH_SEGMENTS, path=field.format_path(path)
    )


def is_clean(value: dict[str, Any]) -> bool:
    """Return whether a resource is certainly valid and unchanged by coercion. False if in doubt."""
    version, kind = value.get("apiVersion"), value.get("kind")
    if version.__class__ is not str or kind.__class__ is not str or not _VERSION.match(version):
        return False
    if not _KIND.match(kind):
        return False
    meta = value.get("metadata")
    return "metadata" not in value or (meta.__class__ is dict and _is_simple_metadata(meta))


def _is_simple_metadata(meta: dict[str, Any]) -> bool:
    for key, item in each(meta).items():
        if not item:
            return False
        if key == "name":
            simple = item.__class__ is str and _NAME.match(item) is not None
        elif key == "namespace":
            simple = item.__class__ is str and _SPACE.match(item) is not None
        elif key == "labels":
            simple = item.__class__ is dict and all(map(_is_simple_label, item.items()))
        elif key == "annotations":
            simple = item.__class__ is dict and len(item) < 64 and all(map(_is_simple_annotation, item.items()))
        else:
            return False
        if not simple:
            return False
    return True


def _is_simple_label(pair: tuple[str, Any]) -> bool:
    return _is_qualified_name(pair[0]) and pair[1].__class__ is str and _LABEL.match(pair[1]) is not None


def _is_simple_annotation(pair: tuple[str, Any]) -> bool:
    return _is_qualified_name(pair[0]) and pair[1].__class__ is str and len(pair[1]) < 1000


def _is_qualified_name(key: str) -> bool:
    prefix, slash, name = key.rpartition("/")
    if not name or not _LABEL.match(name):
        return False
    return not slash or (len(prefix) < 254 and _PREFIX.fullmatch(prefix) is not None)
