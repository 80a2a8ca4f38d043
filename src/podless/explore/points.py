"""Names of events in a run that are the same in every run, and the log of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

import orjson

from podless.auth.authorizer import Attributes
from podless.http.faults import carry
from podless.meta.errors import qualify_resource
from podless.runtime.dataclass import dataclass
from podless.runtime.jsonobject import Object
from podless.structs import protobuf

_METADATA, _NAME, _GENERATE_NAME, _VERSION = 1, 1, 2, 6  # numbers of protobuf fields


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One line of a run's log."""

    kind: str  # "write", "read", "event", "user", "fault" or "process"
    client: str  # the name of the client, "" for the user
    text: str  # the event, with names that are the same in every run
    point: str = ""  # where a write or a user's step can be perturbed, "" for other events
    status: int = 0  # status code of the answer, 0 if there was none
    revision: int = 0  # of the store when it happened
    resource: str = ""  # the resource of a write, read or event
    late: bool = False  # whether events were held then, or a watch was not open again
    stale: bool = False  # whether a write is based on an older version of the object than the client had seen
    # before, after: the object that a write changed, None if there was none
    before: Object | None = field(default=None, repr=False)
    after: Object | None = field(default=None, repr=False)

    @property
    def changed(self) -> bool:
        """Whether a write was carried out and changed something."""
        return self.kind == "write" and self.before != self.after


class Log:
    """The entries of a run, and the names of its points. generated: the names that stand for generated ones."""

    def __init__(self) -> None:
        self.entries: list[LogEntry] = []
        self._counts: Counter[str] = Counter()
        self.generated: dict[str, str] = {}
        self._generations: Counter[str] = Counter()

    def name_write(self, client: str, attributes: Attributes, body: bytes) -> str:
        """Return the point of a write that a client sends now."""
        name = attributes.name
        if not name and attributes.verb == "create":
            full_name, prefix = _read_metadata(body)[:2]
            name = full_name or f"{prefix}*"
        target = self.mask_name(f"{attributes.namespace}/{name}" if attributes.namespace else name)
        point = f"{client} {attributes.verb} {resource_of(attributes)} {target}".rstrip()
        self._counts[point] += 1
        count = self._counts[point]
        return point if count == 1 else f"{point} #{count}"

    def note_created(self, obj: Mapping[str, Any]) -> None:
        """Give an object with a generated name the same name in every run."""
        metadata = obj.get("metadata") or {}
        prefix, name = metadata.get("generateName"), metadata.get("name")
        if prefix and name and name.startswith(prefix) and name not in self.generated:
            self._generations[prefix] += 1
            self.generated[name] = f"{prefix}*{self._generations[prefix]}"

    def mask_name(self, text: str) -> str:
        """Replace a generated name at the end of a text."""
        namespace, slash, name = text.rpartition("/")
        return f"{namespace}{slash}{self.generated.get(name, name)}"

    def list_requests(self) -> list[str]:
        """Return the lines that must be equal in two runs of a schedule: all requests with their answers, in order."""
        return [f"{entry.text} {entry.status}" for entry in self.entries if entry.kind in ("write", "read")]


def resource_of(attributes: Attributes) -> str:
    """Return the resource with group and subresource, such as "crontabs.stable.example.com/status"."""
    name = qualify_resource(attributes.resource, attributes.group)
    return f"{name}/{attributes.subresource}" if attributes.subresource else name


def compare_logs(first: Sequence[str], second: Sequence[str]) -> str:
    """Return where two fingerprints diverge, "" if they are equal."""
    for number, (line, other_line) in enumerate(zip(first, second, strict=False), 1):
        if line != other_line:
            return f"request {number}: {line} / {other_line}"
    longer = first if len(first) > len(second) else second
    return "" if len(first) == len(second) else f"one run ends before: {longer[min(len(first), len(second))]}"


def read_version(body: bytes) -> int:
    """Return the resourceVersion of the object in a body, 0 if it has none."""
    version = _read_metadata(body)[2]
    return int(version) if version.isdigit() else 0


def _read_metadata(body: bytes) -> tuple[str, str, str]:
    """Return name, generateName and resourceVersion of a body, in JSON or protobuf. Missing ones are ""."""
    try:
        if body.startswith(protobuf.PREFIX):
            raw = carry.find_field(protobuf.open_envelope(body).raw, _METADATA)
            name, prefix, version = (
                carry.find_field(raw, name_).decode() for name_ in (_NAME, _GENERATE_NAME, _VERSION)
            )
            return name, prefix, version
        metadata = orjson.loads(body).get("metadata") or {}
        name, prefix, version = (
            str(metadata.get(name_) or "") for name_ in ("name", "generateName", "resourceVersion")
        )
    except (ValueError, AttributeError, IndexError):  # the server reports the error of the body
        return "", "", ""
    return name, prefix, version
