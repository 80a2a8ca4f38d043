"""Structs as a Go server prints them in messages: by the names of their Go fields, with all that is not set; and diffs.

Source: what encoding/json makes of Kubernetes' internal types, and util/diff of k8s.io/apimachinery, as recorded.
"""

from __future__ import annotations

import difflib
import json
from typing import Any

from podless.meta import gotext
from podless.meta.structs import ListOf, MapOf, Struct, Type

# parts of names that Go writes in another way than with a capital letter
_NAMES = {
    "apiGroup": "APIGroup",
    "apiGroups": "APIGroups",
    "apiVersion": "APIVersion",
    "awsElasticBlockStore": "AWSElasticBlockStore",
    "cephfs": "CephFS",
    "csi": "CSI",
    "fc": "FC",
    "fsType": "FSType",
    "gcePersistentDisk": "GCEPersistentDisk",
    "ip": "IP",
    "iqn": "IQN",
    "iscsi": "ISCSI",
    "nfs": "NFS",
    "pdID": "PdID",
    "rbd": "RBD",
    "sslEnabled": "SSLEnabled",
    "storageos": "StorageOS",
    "uid": "UID",
    "wwids": "WWIDs",
    "targetWWNs": "TargetWWNs",
}
_MOST_LINES = 20000  # of a diff; a longer one costs more than it tells


def shown(kind: Type, value: Any) -> Any:
    """A value with the names of Go's fields, and null or zero for all that is not there. None is null."""
    if value is None:
        return None
    if isinstance(kind, Struct):
        return {
            _go_name(field.name): _unset(field.type, field.pointer)
            if value.get(field.name) is None
            else shown(field.type, value[field.name])
            for field in kind.fields
        }
    if isinstance(kind, ListOf):
        return [shown(kind.item, item) for item in value]
    if isinstance(kind, MapOf):
        return {name: shown(kind.item, value[name]) for name in sorted(value)}
    return value


def diff(kind: Type, before: Any, after: Any) -> str:
    """What differs between two values, line by line, as it follows a message."""
    one, other = (json.dumps(shown(kind, value), indent=1, ensure_ascii=False).split("\n") for value in (before, after))
    if len(one) + len(other) > _MOST_LINES:
        return ""
    lines = difflib.unified_diff(one, other, lineterm="")
    return "".join(f"{line}\n" for line in list(lines)[2:])


def written(kind: Type, value: Any) -> str:
    """A value as a message shows it."""
    return gotext.json(shown(kind, value))


def _go_name(name: str) -> str:
    return _NAMES.get(name) or name[:1].upper() + name[1:]


def _unset(kind: Type, pointer: bool) -> Any:
    if pointer or isinstance(kind, ListOf | MapOf):
        return None
    return shown(kind, {}) if isinstance(kind, Struct) else kind.blank()
