"""Warnings for parts of selectors in access reviews that cannot be parsed and are ignored.

Source: kube-apiserver's pkg/registry/authorization/util.
"""

from __future__ import annotations

from podless.meta import selectors
from podless.meta.errors import BadRequest
from podless.runtime.jsonobject import Object

_LABELS, _FIELDS = "labelSelector", "fieldSelector"
_PLACE = "spec.resourceAttributes"


def unread_warnings(resource: Object) -> list[str]:
    """Return one text for each selector with an ignored part."""
    found = []
    for name in (_FIELDS, _LABELS):
        selector = resource.get(name) or {}
        requirements = selector.get("requirements") or []
        sound = [one for one in requirements if _sound(name, one)]
        if len(sound) < len(requirements) or (not requirements and not _readable(name, selector.get("rawSelector"))):
            found.append(f"{_PLACE}.{name} {'partially ' if sound else ''}ignored due to parse error")
    return found


def _readable(name: str, text: str | None) -> bool:
    try:
        if text:
            (selectors.parse_labels if name == _LABELS else selectors.parse_fields)(text)
    except BadRequest:
        return False
    return True


def _sound(name: str, requirement: Object) -> bool:
    if name == _FIELDS:  # field selectors support only one value so far
        return requirement.get("operator") in ("In", "NotIn") and len(requirement.get("values") or ()) == 1
    try:
        selectors.from_object({"matchExpressions": [requirement]})
    except BadRequest:
        return False
    return True
