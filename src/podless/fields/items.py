"""Path elements of the items of associative lists."""

from __future__ import annotations

from typing import Any

from podless.codec import gotext
from podless.fields import sets
from podless.fields.typed import NONE, PLAIN_TEXT, UNTYPED, ListShape, SchemaMisfit
from podless.runtime.bounded import bounded_cache
from podless.runtime.release import has

_NO_ITEM = {
    dict: "associative list without keys has an element that's a map type",
    list: "not supported: associative list with lists as elements",
    NONE: "associative list without keys has an element that's an explicit null",
}


def make_elements(form: ListShape, items: list[dict[str, Any]]) -> list[str] | None:
    """Return the path elements of maps in an associative list, as `make_element` does for each.

    None unless one key identifies the items, and its values need no escapes in JSON.
    """
    if not form.lead:
        return None
    key, lead = form.key, form.lead
    try:
        texts = [item[key] for item in items]
        plain = PLAIN_TEXT("".join(texts))
    except (KeyError, TypeError):
        return None
    return [f'{lead}{text}"}}' for text in texts] if plain else None


def name_items(form: ListShape, items: list[Any]) -> list[str]:
    """Return the path elements of all items of an associative list. Raises SchemaMisfit as `make_element` does."""
    names = make_elements(form, items)
    return names if names is not None else [make_element(form, item) for item in items]


def make_element(form: ListShape, item: Any) -> str:
    """Return the path element of an item of an associative list. Raises SchemaMisfit for an item without one."""
    if form.lead and item.__class__ is dict:
        value = item.get(form.key)
        if value.__class__ is str and PLAIN_TEXT(value):
            return f'{form.lead}{value}"}}'
    if not form.keys:
        if type(item) is str:
            return f'v:"{item}"' if PLAIN_TEXT(item) else _make_text_element(item)
        if type(item) in UNTYPED.types and item is not None:
            return sets.make_value_element(item)
        raise SchemaMisfit(_NO_ITEM[type(item)])
    if type(item) is not dict:
        fault = "a null element" if item is None else "non-map elements"
        raise SchemaMisfit(f"associative list with keys may not have {fault}")
    if form.key and type(value := item.get(form.key)) is str:
        return _make_keyed_element(form.key, value)
    keys = {name: item[name] for name in form.keys if name in item}
    if len(keys) < len(form.keys) and (shape := form.item.map) is not None:
        missing = [name for name in form.keys if name not in keys]
        keys |= {name: shape.defaults[name] for name in missing if name in shape.defaults}
    if len(keys) < len(form.keys) and not has("SomeKeys"):
        lacking = gotext.quote(next(name for name in form.keys if name not in keys))
        fault = f"has an element that omits key field {lacking} (and doesn't have default value)"
        raise SchemaMisfit(f"associative list with keys {fault}")
    if not keys:
        names = " ".join(map(gotext.quote, form.keys))
        fault = f"has an element that omits all key fields [{names}]"
        raise SchemaMisfit(f"associative list with keys {fault} (and doesn't have default values for any key fields)")
    return sets.make_key_element(keys)


@bounded_cache(4096)  # lists use few different keys, and objects repeat them
def _make_text_element(value: str) -> str:
    return sets.make_value_element(value)


@bounded_cache(4096)
def _make_keyed_element(name: str, value: str) -> str:
    return sets.make_key_element({name: value})
