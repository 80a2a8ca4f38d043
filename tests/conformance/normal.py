"""Answers without what differs from run to run (uids, resource versions, times) and without a server's own prose."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Any

_TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$")
_ADDRESS = re.compile(r"0x[0-9a-f]{6,}")
_YEARS = re.compile(r"\b\d+y(\d+d)?\b")
_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


class Names:
    """Names for uids and resource versions in order of appearance, so that relations stay visible."""

    def __init__(self) -> None:
        self._uids: dict[str, str] = {}
        self._versions: dict[str, str] = {}

    def uid(self, value: str) -> str:
        return self._uids.setdefault(value, f"UID{len(self._uids) + 1}")

    def version(self, value: str) -> str:
        return self._versions.setdefault(value, f"RV{len(self._versions) + 1}")

    def text(self, value: str) -> str:
        return "TIME" if _TIME.match(value) else _UID.sub(lambda found: self.uid(found.group()), value)


def normalise(value: Any, names: Names, keep: Collection[str], path: tuple[str, ...] = ()) -> Any:
    """An answer with names in place of what only one run has; managedFields only if they are to be kept."""
    if isinstance(value, list):
        return [normalise(item, names, keep, (*path, "[]")) for item in value]
    if isinstance(value, str):
        return names.text(value)
    if not isinstance(value, dict):
        return value
    made: dict[str, Any] = {}
    is_list = "items" in value or "rows" in value
    for key, item in value.items():
        if key == "managedFields" and "managedFields" not in keep:
            continue
        made[key] = _field(key, item, names, keep, path, is_list)
    if "columnDefinitions" in value and "rows" in value:
        _mask_ages(value, made)
    if value.get("kind") == "Status" and isinstance(made.get("details"), dict):
        _sort_causes(made)
    return made


def _field(key: str, item: Any, names: Names, keep: Collection[str], path: tuple[str, ...], is_list: bool) -> Any:
    if isinstance(item, str) and item:
        if key == "uid":
            return names.uid(item)
        if key == "resourceVersion":
            is_whole = path and path[-1] == "metadata" and ("LIST" in path or "BOOKMARK" in path)
            return "LISTRV" if is_whole else names.version(item)
        if key == "continue":
            return "CONTINUE"
    if key == "remainingItemCount":
        return item
    if key == "conditions" and isinstance(item, list):
        item = sorted(item, key=lambda one: str(one.get("type")) if isinstance(one, dict) else "")
    step = ("LIST", key) if is_list and key == "metadata" else (key,)
    return normalise(item, names, keep, path + step)


def _sort_causes(status: dict[str, Any]) -> None:
    """A real server tells several causes in any order, so their order and the text that joins them are left out."""
    causes = status["details"].get("causes")
    if isinstance(causes, list) and len(causes) > 1:
        causes.sort(key=lambda cause: json.dumps(cause, sort_keys=True))
        status["message"] = (status.get("message") or "").split(": [")[0] + ": [...]"


def _mask_ages(table: dict[str, Any], made: dict[str, Any]) -> None:
    columns = table["columnDefinitions"] or []
    dates = [
        number for number, column in enumerate(columns) if column.get("type") == "date" or column.get("name") == "Age"
    ]
    for row in made["rows"] or []:
        cells = row.get("cells", [])
        for number in dates:
            if number < len(cells) and cells[number] not in (None, "<unknown>"):
                cells[number] = "AGE"


def mask_years(table: Any) -> None:
    """Hide ages of years and days in any cell of a Table, such as `2 (6y328d ago)`: they change every day."""
    for row in (table.get("rows") if isinstance(table, dict) else None) or ():
        if isinstance(row, dict) and isinstance(row.get("cells"), list):
            row["cells"] = [_YEARS.sub("YEARS", cell) if isinstance(cell, str) else cell for cell in row["cells"]]


def mask_addresses(value: Any) -> Any:
    """Hide where pointers of Go point to, such as 0xc000123450 in an error of an older release: each run has others."""
    if isinstance(value, str):
        return _ADDRESS.sub("ADDRESS", value)
    if isinstance(value, dict):
        return {key: mask_addresses(item) for key, item in value.items()}
    return [mask_addresses(item) for item in value] if isinstance(value, list) else value


def descriptions(value: Any) -> set[str]:
    """All texts under `description` in what a scenario sends."""
    if isinstance(value, dict):
        own = {item for key, item in value.items() if key == "description" and isinstance(item, str)}
        return own.union(*map(descriptions, value.values()))
    return set[str]().union(*map(descriptions, value)) if isinstance(value, list) else set()


def mask_prose(value: Any, own: set[str]) -> None:
    """Hide what a server says of its own fields in an OpenAPI document; what the scenario itself brought stays."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key.rsplit(".", 1)[-1] == "description" and isinstance(item, str):
                if item not in own and not item.startswith("Custom resource definition column"):
                    value[key] = "ITS OWN WORDS"
            else:
                mask_prose(item, own)
    elif isinstance(value, list):
        for item in value:
            mask_prose(item, own)


def mask_documents(value: Any, own: set[str]) -> None:
    """The same for OpenAPI documents and columns of Tables, wherever in an answer they are."""
    if isinstance(value, dict):
        if "openapi" in value or "swagger" in value or "columnDefinitions" in value:
            mask_prose(value, own)
            return
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            mask_documents(item, own)
