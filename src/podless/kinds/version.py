"""One version of a kind: schema, columns, scale; and the fields of objects that the scale subresource uses."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from podless.codec import gotext, serializer
from podless.meta import field
from podless.meta.field import FieldError
from podless.runtime.collector import pause_gc
from podless.runtime.dataclass import dataclass
from podless.runtime.meter import charge

_MAX_REPLICAS = 2**31 - 1
_DECODED = 64  # bytes per step on the meter


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the kind's Table: name, type and format of its cells, and the path of their values.

    type: integer, number, string, boolean or date. priority: 0 for the standard view, more for -o wide. json_path: as
    in additionalPrinterColumns, such as .spec.replicas.
    """

    name: str
    type: str
    json_path: str
    format: str = ""
    description: str = ""
    priority: int = 0


@dataclass(frozen=True, slots=True)
class Scale:
    """The paths of a Scale's parts in the object; label_selector_path may be "".

    selects_with_text: the selector in the object is a string, not a map of labels or a LabelSelector.
    """

    spec_replicas_path: str
    status_replicas_path: str
    label_selector_path: str = ""
    selects_with_text: bool = True


@dataclass(frozen=True, slots=True)
class GivenSchema:
    """Reads the schema of a version from its stored definition. size: approximate bytes of the schema."""

    stored: bytes
    name: str
    size: int = 0

    def __call__(self) -> dict[str, Any] | None:
        """Return the openAPIV3Schema, None if there is none."""
        return _read_schemas(self.stored)[self.name]


def _read_schemas(stored: bytes) -> dict[str, dict[str, Any] | None]:
    """Return the schemas of a stored definition by version."""
    with pause_gc():  # it would run several times during one long step
        versions = serializer.decode_own(stored)["spec"]["versions"]
    charge(len(stored) // _DECODED)
    return {version["name"]: (version.get("schema") or {}).get("openAPIV3Schema") for version in versions}


@dataclass(frozen=True, eq=False)
class Version:
    """One version of a kind."""

    name: str
    # the openAPIV3Schema (custom kinds), or a function that reads it, so that an unused schema takes no memory besides
    # the stored definition
    source: dict[str, Any] | Callable[[], dict[str, Any] | None] | None = None
    columns: tuple[Column, ...] | None = None  # None for Name and Age
    status: bool = False
    scale: Scale | None = None
    selectable: tuple[str, ...] = ()  # JSONPaths for fieldSelectors besides metadata.name and metadata.namespace
    deprecated: bool = False
    deprecation_warning: str = ""
    releases: str = ""  # the Kubernetes releases that serve it, as runtime/release.py writes them; "" for all
    deprecated_in: str = ""  # releases that deprecate it, "" for all that serve it
    status_ahead: str = ""  # the first release that has its status, if that release is not recorded yet

    @property
    def schema(self) -> dict[str, Any] | None:
        """The openAPIV3Schema. It is read each time, so keep what you derive from it."""
        return self.source() if callable(self.source) else self.source


def read_schemas(versions: Iterable[Version]) -> list[Version]:
    """Return the versions with their schemas, read at once if they come from one definition."""
    by_id: dict[int, dict[str, dict[str, Any] | None]] = {}
    schemas: list[Version] = []
    for version in versions:
        schema = version.source
        if isinstance(schema, GivenSchema):
            stored = schema.stored
            if id(stored) not in by_id:
                by_id[id(stored)] = _read_schemas(stored)
            schema = by_id[id(stored)][schema.name]
        schemas.append(replace(version, source=schema))
    return schemas


def validate_scale(obj: dict[str, Any], scale: Scale | None, *, required: bool = True) -> list[FieldError]:
    """Require replicas from 0 to 2147483647 and a string as selector; missing fields are valid.

    required: also check spec replicas, which a status write does not change. Source: recorded answers.
    """
    if scale is None:
        return []
    errors = _validate_replicas(obj, scale.spec_replicas_path) if required else []
    errors += _validate_replicas(obj, scale.status_replicas_path)
    path = scale.label_selector_path
    if path:
        _, fault = read_typed(obj, path, str)
        if fault:
            errors.append(field.invalid(path, "", fault))
    return errors


def _validate_replicas(obj: dict[str, Any], path: str) -> list[FieldError]:
    value, fault = read_typed(obj, path, int)
    if fault:
        return [field.invalid(path, 0, fault)]
    if value is None:
        return []
    if value < 0:
        return [field.invalid(path, value, "should be a non-negative integer")]
    if value > _MAX_REPLICAS:
        return [field.invalid(path, value, f"should be less than or equal to {_MAX_REPLICAS}")]
    return []


def read_typed(obj: dict[str, Any], path: str, expected: type) -> tuple[Any, str]:
    """Return the value at a path such as .spec.replicas, and "" or a real server's text for a value of another type.

    The value is None if there is none.
    """
    value: Any = obj
    reached = ""
    for name in filter(None, path.split(".")):
        if value is None:
            return None, ""
        reached += f".{name}"
        if not isinstance(value, dict):
            return None, _explain_type(reached, value, "map[string]interface{}")
        if name not in value:
            return None, ""
        value = value[name]
    if type(value) is expected:
        return value, ""
    return None, _explain_type(reached, value, gotext.TYPE_NAMES[expected])


def _explain_type(path: str, value: Any, expected: str) -> str:
    found = f"{gotext.format_plain(value)} is of the type {gotext.name_type(value)}"
    return f"{path} accessor error: {found}, expected {expected}"
