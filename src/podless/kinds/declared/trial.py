"""Tries declared conversions: generated objects are converted to another version and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from podless.codec import serializer
from podless.kinds.declared import ConversionFault
from podless.kinds.declared.carryout import DeclaredConversions
from podless.runtime.jsonobject import Object
from podless.runtime.meter import charge
from podless.schema.examples import make_examples

if TYPE_CHECKING:
    from podless.schema import Schema

_EXAMPLES = 8  # objects for each pair of versions
_MAX_FAULTS = 2  # failed objects after which a pair is given up, because failing may take long
_MAX_TOLD = 20  # maximum warnings
_MAX_SHOWN = 120  # characters of a value in a warning


def try_conversions(
    conversions: DeclaredConversions, schemas: Mapping[str, Schema], group: str, kind: str
) -> list[str]:
    """Return the differences and errors of generated objects that are converted to another version and back.

    schemas: of all versions, by name.
    """
    findings: dict[tuple[str, str, str], str] = {}
    for source, target in conversions.steps:
        direction = f"{source} to {target}"
        head = {"apiVersion": f"{group}/{source}", "kind": kind, "metadata": {"name": "example"}}
        count = faults = 0
        for obj in make_examples(schemas[source], head, _EXAMPLES):
            count += 1
            for subject, text in _try_conversion(conversions, schemas, obj, source, target):
                findings.setdefault((source, target, subject), f"conversion from {direction} {text}")
                faults += subject.startswith("!")
            if len(findings) >= _MAX_TOLD:
                return list(findings.values())
            if faults >= _MAX_FAULTS:
                break
        if not count:
            text = f"conversion from {direction} was not tried: no valid object of {source} could be generated"
            findings[source, target, ""] = text
    return list(findings.values())


def _try_conversion(
    conversions: DeclaredConversions, schemas: Mapping[str, Schema], obj: Object, source: str, target: str
) -> Iterator[tuple[str, str]]:
    """Yield place and text of each fault in the conversion of one object."""
    group = obj["apiVersion"].rpartition("/")[0]
    try:
        converted = conversions.convert_object(obj, f"{group}/{target}")
        errors = schemas[target].admit(converted, drop=True)
        for error in errors[:3]:
            yield f"!{error.field}", f"makes an object that {target} rejects: {error}: from {_format_value(obj)}"
        if errors or not conversions.can_convert(target, source):
            return
        returned = conversions.convert_object(converted, obj["apiVersion"])
    except ConversionFault as fault:
        yield f"!{fault.step}", f"fails: {fault}: from {_format_value(obj)}"
        return
    schemas[source].admit(returned, drop=True)
    for path, before, after in _find_differences(obj, returned, ""):
        if after is None:
            yield path, f"and back loses {path}, such as {_format_value(before)}"
        elif before is None:
            yield path, f"and back adds {path}: {_format_value(after)}"
        else:
            yield path, f"and back changes {path}: {_format_value(before)} becomes {_format_value(after)}"


def _find_differences(before: Any, after: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    """Yield (place, before, after) for each difference of two values."""
    charge(1)
    if isinstance(before, dict) and isinstance(after, dict):
        for name in dict.fromkeys((*before, *after)):
            yield from _find_differences(before.get(name), after.get(name), f"{path}.{name}" if path else name)
    elif before != after or (before is None) is not (after is None):
        yield path, before, after


def _format_value(value: Any) -> str:
    if isinstance(value, dict) and "metadata" in value:
        value = {name: item for name, item in value.items() if name not in ("apiVersion", "kind", "metadata")}
    text = serializer.encode_unescaped(value)
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}..."
