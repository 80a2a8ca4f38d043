"""Validates the conversions that a definition declares in an annotation, and warns of data that they lose."""

from __future__ import annotations

from podless.kinds.declared import CONVERSION
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.schema import Schema

_PATH = f"metadata.annotations[{CONVERSION}]"
_UNUSED = f"{_PATH} is not used: spec.conversion names a webhook"


def check_declared(crd: Object, old: Object | None) -> list[FieldError]:
    """Validate the declared conversions of an otherwise valid definition. old: None on create."""
    text = _find_text(crd)
    if not text or _is_known(crd, old):
        return []
    from podless.kinds.declared.reading import read_conversions

    return read_conversions(text, _compile_schemas(crd), _PATH)[1]


def warn_of_conversions(crd: Object, old: Object | None = None) -> list[str]:
    """Return warnings about data that is lost by a round trip between versions, tried with generated objects."""
    text = _find_text(crd)
    if _is_known(crd, old):
        return []
    if not text:
        annotation = (crd["metadata"].get("annotations") or {}).get(CONVERSION)
        return [_UNUSED] if annotation else []
    from podless.kinds.declared.reading import read_conversions
    from podless.kinds.declared.trial import try_conversions

    schemas, spec = _compile_schemas(crd), crd["spec"]
    conversions, errors = read_conversions(text, schemas, _PATH)
    return [] if errors else try_conversions(conversions, schemas, spec["group"], spec["names"]["kind"])


def _find_text(crd: Object) -> str:
    """Return the annotation, "" if it has no effect."""
    if (crd["spec"].get("conversion") or {}).get("strategy") == "Webhook":
        return ""
    return (crd["metadata"].get("annotations") or {}).get(CONVERSION) or ""


def _is_known(crd: Object, old: Object | None) -> bool:
    """Return whether nothing has changed that affects the conversions."""
    return old is not None and _find_text(crd) == _find_text(old) and bool(crd["spec"] == old["spec"])


def _compile_schemas(crd: Object) -> dict[str, Schema]:
    spec = crd["spec"]
    preserve = bool(spec.get("preserveUnknownFields"))
    return {
        version["name"]: Schema.compile(
            (version.get("schema") or spec.get("validation") or {}).get("openAPIV3Schema"), preserve
        )
        for version in each(spec.get("versions") or [])
    }
