"""Built-in objects in the form of Go's internal structs, which a real server's errors show: {"Type":"Recreate"}.

Such a struct has every field of the release, with its Go name, in Go's order (structs/gosyntax.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from podless.codec import serializer
from podless.codec.gotext import Literal, Named
from podless.runtime import lazy
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import CURRENT, has
from podless.structs import gotypes, structs
from podless.structs.gotypes import GoType, ListOf
from podless.structs.structfiles import in_release, load_struct
from podless.structs.structs import Field, Struct

if TYPE_CHECKING:
    from podless.structs import gosyntax
else:  # for errors only
    gosyntax = lazy.LateModule("podless.structs.gosyntax")

_META = "meta/v1"  # Go uses the API's names for these structs
_OBJECT_META = load_struct(_META, "ObjectMeta")
_MAX_LINES = 4000  # lines; longer documents are not compared line by line


def format_struct(struct: Struct | str, value: Object | None) -> Any:
    """Return the value of a struct in JSON with Go's names, as errors show it. None is a null pointer.

    struct: or its name, such as core/v1.Taint. In releases whose errors show no JSON, the result is a text in Go's
    syntax.
    """
    if value is None:
        return None
    struct = _find_struct(struct)
    return _read_struct(struct, value) if has("ValuesAsJSON") else Literal(gosyntax.write_struct(struct, value))


def format_structs(struct: Struct | str, values: list[Object] | None) -> Any:
    """Format several structs, as `format_struct` does."""
    struct = _find_struct(struct)
    if not has("ValuesAsJSON"):
        return Literal(gosyntax.write_list(struct, values, gosyntax.package_of(struct)))
    return None if values is None else [_read_struct(struct, value) for value in each(values)]


def format_int_or_string(value: int | str) -> Any:
    """Format an intstr.IntOrString."""
    if not has("ValuesAsJSON"):
        return Literal(gosyntax.write_either(value))
    return Named(value) if isinstance(value, str) else value


def format_quantity(text: str) -> str:
    """Format a quantity that errors show as it is, not its text."""
    return text if has("ValuesAsJSON") else Literal(gosyntax.write_quantity(text))


def diff_structs(struct: Struct, old: Object, new: Object) -> str:
    """Return the differences of two values of a struct as a unified diff."""
    struct = _find_struct(struct)
    old_lines, new_lines = _format_lines(struct, old), _format_lines(struct, new)
    if len(old_lines) + len(new_lines) > _MAX_LINES:
        return _diff_block(old_lines, new_lines)
    import difflib  # imported late: few servers show a difference

    return "".join(list(difflib.unified_diff(old_lines, new_lines))[2:])


def _find_struct(struct: Struct | str) -> Struct:
    """Return the struct of the current release."""
    if isinstance(struct, Struct):
        return in_release(struct, CURRENT.get())
    home, _, name = struct.rpartition(".")
    return load_struct(home, name, CURRENT.get())


def _format_lines(struct: Struct, value: Object) -> list[str]:
    text = b"".join(serializer.encode_json_pieces(_read_struct(struct, value), b"")).decode()
    lines = text.split("\n")
    # encode_json_pieces indents by two spaces, a difference by one
    return [f"{line[(len(line) - len(line.lstrip(' '))) // 2 :]}\n" for line in each(lines)]


def _diff_block(old_lines: list[str], new_lines: list[str]) -> str:
    """Return a diff of long documents, which only omits their common start and end."""
    shortest = min(len(old_lines), len(new_lines))
    pairs = enumerate(zip(each(old_lines), new_lines, strict=False))
    first = next((index for index, (old, new) in pairs if old != new), shortest)
    last = 0
    while last < shortest - first and old_lines[-1 - last] == new_lines[-1 - last]:
        last += 1
    start, skipped = max(0, first - 3), max(0, last - 3)
    removed, added = old_lines[first : len(old_lines) - last], new_lines[first : len(new_lines) - last]
    before, after = old_lines[start:first], old_lines[len(old_lines) - last : len(old_lines) - skipped]
    sizes = [len(before) + len(lines) + len(after) for lines in (removed, added)]
    head = f"@@ -{start + 1},{sizes[0]} +{start + 1},{sizes[1]} @@\n"
    marked = [
        *(f" {line}" for line in each(before)),
        *(f"-{line}" for line in each(removed)),
        *(f"+{line}" for line in each(added)),
    ]
    return "".join([head, *marked, *(f" {line}" for line in each(after))])


def _read_struct(struct: Struct, value: Object) -> Any:
    if struct.home == _META:
        return value
    plan: list[tuple[str, str, Field]] = struct.derive_value("gostruct", lambda: gosyntax.order_fields(struct))
    result: Object = {}
    if struct.name == "PodSecurityContext":
        moved = gosyntax.MOVED.items()
        result = {gosyntax.name_field(struct.name, name): value.get(name, empty) for name, empty in moved}
    value = gosyntax.move_fields(struct, value)
    for name, json_name, field in plan:
        if name == "metadata":
            metadata = structs.arrange_fields(_OBJECT_META, value.get(name, {}))
            result |= {key: item for key, item in each(metadata).items() if item is not None}
            continue
        item = value.get(name)
        result[json_name] = _zero_value(struct, field) if item is None else _read_item(field.type, item)
        if added := gosyntax.ADDED.get((struct.name, name)):
            result[added[0]] = added[1]
    return result


def _read_item(kind: GoType, item: Any) -> Any:
    if isinstance(kind, Struct):
        return _read_struct(kind, item)
    if isinstance(kind, ListOf):
        return [_read_item(kind.item, element) for element in each(item)] if isinstance(kind.item, Struct) else item
    if isinstance(kind, gotypes.MapOf) and isinstance(kind.item, Struct):
        return {key: _read_struct(kind.item, element) for key, element in each(item).items()}
    return item


def _zero_value(struct: Struct, field: Field) -> Any:
    """Return the zero value of a field."""
    if gosyntax.is_pointer(struct, field):
        return None
    if isinstance(field.type, Struct):
        return _read_struct(field.type, {})
    return field.type.make_zero()
