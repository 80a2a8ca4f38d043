"""The fields in which two states of an object differ, with the reason and the owners of each change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from podless.codec import serializer
from podless.fields import sets
from podless.meta.field import Path
from podless.plan.manifests import Identity
from podless.plan.result import GONE, By, FieldChange
from podless.plan.secrecy import holds_data, is_secret
from podless.runtime.jsonobject import Object

# fields that only the server sets, at every write
_OWN = ("managedFields", "resourceVersion", "generation", "selfLink")
# values that another server would choose differently
_GENERATED = {
    ("metadata", "uid"), ("metadata", "creationTimestamp"), ("metadata", "deletionTimestamp"),
}  # fmt: skip
_GENERATED_OF = {
    "Service": {("spec", "clusterIP"), ("spec", "clusterIPs"), ("spec", "healthCheckNodePort")},
}
_KEYS = ("name", "key", "type", "containerPort", "port", "mountPath", "devicePath", "ip", "topologyKey", "uid")
_TIMES = ("lastTransitionTime", "lastUpdateTime", "lastProbeTime", "lastHeartbeatTime")
_POLICIES = ("MutatingAdmissionPolicy", "PlannedMutatingWebhooks")
_NAMES = {"PlannedMutatingWebhooks": "webhooks", "MutatingAdmissionPolicy": "policies"}


def compare_objects(
    identity: Identity,
    before: Object | None,
    after: Object | None,
    asked: Object | None = None,
    recorded: Mapping[str, set[Path]] | None = None,
) -> list[FieldChange]:
    """Return the fields in which an object changes.

    asked: the object in the set, None if it is not in the set. recorded: paths that admission plugins changed, by
    plugin. Values of Secrets are marked as secret.
    """
    old_owners, new_owners = list_owners(before), list_owners(after)
    asked = _join_strings(identity, asked)
    found: dict[str, FieldChange] = {}
    for steps, path, old, new in _walk(_shown(before), _shown(after), (), ()):
        text = format_steps(steps)
        by, plugin = _attribute(steps, path, new, asked, recorded or {})
        generated = _is_generated(identity, path) and (old is GONE or new is GONE or path[0] == "metadata")
        here, there = old_owners.get(text, ()), new_owners.get(text, ())
        moved = (here, there) if here and there and here != there else ((), ())
        secret = is_secret(identity, path)
        found[text] = FieldChange(text, old, new, by, plugin, generated, secret, *moved)
    for text in sorted(old_owners.keys() & new_owners.keys() - found.keys()):
        if old_owners[text] != new_owners[text]:
            found[text] = FieldChange(text, None, None, old_managers=old_owners[text], new_managers=new_owners[text])
    return [*found.values()]


def _join_strings(identity: Identity, asked: Object | None) -> Object | None:
    """Return a manifest with a Secret's stringData moved to data, as the server does."""
    if asked is None or not holds_data(identity) or not isinstance(asked.get("stringData"), dict):
        return asked
    data = asked.get("data")
    return {**asked, "data": {**(data if isinstance(data, dict) else {}), **asked["stringData"]}}


def _is_generated(identity: Identity, path: Path) -> bool:
    if path[:2] in _GENERATED or path[-1:] == ("nodePort",) or path[-1] in _TIMES:
        return True
    return path[:2] in _GENERATED_OF.get(identity.kind, ())


def _shown(obj: Object | None) -> Object:
    if obj is None:
        return {}
    metadata = {key: value for key, value in obj.get("metadata", {}).items() if key not in _OWN}
    return {**{key: value for key, value in obj.items() if key not in ("apiVersion", "kind")}, "metadata": metadata}


# field names, list indexes, and (key, value) of an identified list item
Steps = tuple[str | int | tuple[str, Any], ...]


def _walk(before: Any, after: Any, steps: Steps, path: Path) -> Iterator[tuple[Steps, tuple[Any, ...], Any, Any]]:
    """Yield (steps, path, before, after) for each difference. path: in the new value, or the old one if it is gone."""
    if before is not GONE and after is not GONE and before == after and type(before) is type(after):
        return
    if isinstance(before, dict | type(GONE)) and isinstance(after, dict | type(GONE)) and (before or after):
        old, new = (value if isinstance(value, dict) else {} for value in (before, after))
        for key in [*new, *(key for key in old if key not in new)]:
            yield from _walk(old.get(key, GONE), new.get(key, GONE), (*steps, key), (*path, key))
    elif isinstance(before, list | type(GONE)) and isinstance(after, list | type(GONE)) and (before or after):
        yield from _walk_lists(before or [], after or [], steps, path, whole=before is GONE or after is GONE)
    else:
        yield steps, path, before, after


def _walk_lists(
    before: Sequence[Any], after: Sequence[Any], steps: Steps, path: Path, *, whole: bool
) -> Iterator[tuple[Steps, tuple[Any, ...], Any, Any]]:
    key = find_key([*before], [*after])
    if key is None:
        if all(not isinstance(item, dict | list) for item in (*before, *after)):
            absent = whole  # one of the lists is empty because its field is absent
            yield steps, path, [*before] if before or not absent else GONE, [*after] if after or not absent else GONE
            return
        for place in range(max(len(before), len(after))):
            old = before[place] if place < len(before) else GONE
            new = after[place] if place < len(after) else GONE
            yield from _walk(old, new, (*steps, place), (*path, place))
        return
    old_items = {item[key]: item for item in before}
    places = {item[key]: place for place, item in enumerate(after)}
    old_places = {item[key]: place for place, item in enumerate(before)}
    for value in [*places, *(value for value in old_items if value not in places)]:
        old = old_items.get(value, GONE)
        new = after[places[value]] if value in places else GONE
        inner = (*path, places.get(value, old_places.get(value, 0)))
        yield from _walk(old, new, (*steps, (key, value)), inner)


def find_key(*lists: Sequence[Any]) -> str | None:
    """Return the field that identifies the items of lists, None if there is none."""
    items = [item for one in lists for item in one]
    if not items or any(not isinstance(item, dict) for item in items):
        return None
    for key in _KEYS:
        known = all(isinstance(item.get(key), str | int) for item in items)
        if known and all(len({item[key] for item in one}) == len(one) for one in lists):
            return key
    return None


def format_steps(steps: Steps) -> str:
    """Return the text of a path, as spec.containers[name=web].image."""
    text = ""
    for step in steps:
        if isinstance(step, tuple):
            text += f"[{step[0]}={step[1]}]"
        elif isinstance(step, int):
            text += f"[{step}]"
        elif any(sign in step for sign in ".[]/ "):
            text += f'["{step}"]'
        else:
            text += f".{step}" if text else step
    return text


def _attribute(
    steps: Steps, path: tuple[Any, ...], new: Any, asked: Object | None, recorded: Mapping[str, set[Path]]
) -> tuple[By, str]:
    """Return the cause of a field's change, and the plugin if it is one."""
    touched = [plugin for plugin, paths in recorded.items() if any(_overlap(path, one) for one in paths)]
    policies = [plugin for plugin in touched if plugin in _POLICIES]
    value = _value_at(asked, steps) if asked is not None else GONE
    wanted = value is not GONE or (new is GONE and asked is not None)
    if policies and not (wanted and value == new and new is not GONE):
        return By.POLICY, _NAMES[policies[0]]
    if wanted:
        return By.SET, ""
    plain = [plugin for plugin in touched if plugin not in _POLICIES]
    return By.SERVER, plain[0] if plain else ""


def _overlap(path: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    """Return whether one path equals the other, or one is above the other."""
    most = min(len(path), len(other))
    return path[:most] == other[:most]


def _value_at(value: Any, steps: Steps) -> Any:
    """Return the value of a manifest at some steps, GONE if it is absent."""
    for step in steps:
        if isinstance(step, tuple):
            items = value if isinstance(value, list) else []
            key, wanted = step
            value = next((item for item in items if isinstance(item, dict) and item.get(key) == wanted), GONE)
        elif isinstance(step, int):
            value = value[step] if isinstance(value, list) and step < len(value) else GONE
        else:
            value = value.get(step, GONE) if isinstance(value, dict) else GONE
        if value is GONE:
            return GONE
    return value


# managers


def list_owners(obj: Object | None) -> dict[str, tuple[str, ...]]:
    """Return the managers of each field that has some, by the text of its path."""
    found: dict[str, list[str]] = {}
    for entry in (obj or {}).get("metadata", {}).get("managedFields") or ():
        if entry.get("subresource"):
            continue
        for path in sets.list_paths(entry.get("fieldsV1") or {}):
            text = _format_owned(path)
            names = found.setdefault(text, [])
            if entry.get("manager") not in names:
                names.append(str(entry.get("manager")))
    return {path: tuple(sorted(names)) for path, names in found.items()}


def _format_owned(path: Sequence[str]) -> str:
    steps: list[Any] = []
    for element in path:
        kind, _, text = element.partition(":")
        if kind == "f":
            steps.append(text)
        elif kind == "k":
            keys = parse_keys(element)
            first = next(iter(keys), None)
            steps.append((first, keys[first]) if first is not None else text)
        else:
            steps.append(("", text))
    return format_steps(tuple(steps))


def parse_keys(element: str) -> Object:
    """Return the keys in a list item's path element, {} for other elements."""
    try:
        found = serializer.decode_json(element.partition(":")[2].encode())
    except serializer.JSONError:
        return {}
    return found if isinstance(found, dict) else {}
