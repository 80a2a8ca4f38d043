"""The runner of the write path: it walks the stages of a verb, and it alone decides where each of them runs.

A stage is a function of the write, which belongs to its request alone: it changes the write and nothing else. Or it is
a coroutine (`Wait`), where it must ask or look at something that other requests change. The stages between two waits
run in one go: on the event loop for short objects, on the off-loop thread for long ones, by their declared cost.
A long body is parsed in the worker process before the stage that reads it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, Generic, TypeVar

from podless.admission import Along
from podless.cache.entry import Entry
from podless.codec import yamlasjson
from podless.kinds.conversion import Unconverted
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.store import Stored
from podless.verbs.call import API, Call, Single
from podless.verbs.options import WriteOptions
from podless.verbs.ready import make_ready

# bytes of a text that is parsed on the event loop; other threads wait while JSON is parsed
_MOST_YAML = 64 * 1024
_MOST_JSON = 256 * 1024


class Write:
    """One write on its way through its stages.

    given: the object as the client sent it, or as admission left it, where it may be needed again. obj: the object as
    it is to become. old: as it is now, in the version of the call; None for a new one. entry: the same as stored.
    stored: what is to be stored. along: what is to be committed with it. answer: for the client, where that is not the
    object as it is stored then. shown: gives what admission sees of an object where that is not the object itself.
    refused: what of it the user may not write, told with what else is wrong with it. added: bytes that admission added,
    about. loose: whether the object is judged before it is made to fit its kind. warned: warnings that were there
    before the present attempt. done: stages of the present group that are finished.
    """

    given: Object
    obj: Object
    old: Object | None = None
    entry: Entry | None = None
    stored: Stored | None = None
    along: Along | None = None
    answer: Single | None = None
    shown: Callable[[Object], Object] | None = None
    refused: Sequence[FieldError] = ()
    added = 0
    loose = False
    shared = False
    warned = 0
    done = 0

    def __init__(self, call: Call, options: WriteOptions) -> None:
        # what is set later has its default in the class: most writes need little of it, and each assignment costs
        self.call = call
        self.options = options

    @property
    def size(self) -> int:
        """Bytes of the longest form of the object that the write knows, about."""
        entry, size = self.entry, len(self.call.body) + self.added
        return size if entry is None or len(entry.body) < size else len(entry.body)


async def parse_body(api: API, call: Call) -> None:
    """Parse a long body before it is read, so that others are served meanwhile.

    The worker process parses it, but for YAML of an apply that is JSON as well: that takes less on the thread. Raises
    Timeout and TooManyRequests.
    """
    body, worker = call.body, api.off_loop.worker
    if len(body) <= _MOST_YAML or "protobuf" in call.content_type:
        return
    if "yaml" not in call.content_type:
        call.body = await worker.json(body) if len(body) > _MOST_JSON else body
    elif call.verb != "patch":
        call.body = await worker.yaml(body)
    elif len(body) > _MOST_JSON:
        call.body = await worker.applied(body)
    else:
        read = await api.off_loop.run(len(body), yamlasjson.read_yaml_as_json, body)
        call.body = read if read is not None else await worker.yaml(body)


async def _parse(api: API, write: Write) -> None:
    await parse_body(api, write.call)


def _has_long_body(api: API, write: Write) -> bool:
    return len(write.call.body) > _MOST_YAML


W = TypeVar("W", bound=Write)
V = TypeVar("V", bound=Write, contravariant=True)
Work = Callable[[W], None]


@dataclass(frozen=True)
class Wait(Generic[V]):
    """A stage that is awaited. when: whether there is anything to wait for; False for most writes."""

    work: Callable[[API, V], Awaitable[None]]
    when: Callable[[API, V], bool]


@dataclass(frozen=True)
class Checks(Generic[V]):
    """A stage that costs `Checking.cost` times as much as its object is long."""

    work: Callable[[V], None]


@dataclass(frozen=True)
class _Group(Generic[W]):
    """Stages that run in one go. checks: whether one of them declares the cost of checks."""

    works: tuple[Work[W], ...]
    checks: bool

    def cost(self, write: W) -> int:
        """Return what the stages cost, as the bytes of an object that is as much work to read."""
        return write.size * write.call.kind.strategy.checking.cost if self.checks else write.size


# the stage before one that reads the body
PARSE: Final = Wait[Write](_parse, _has_long_body)


class Stages(Generic[W]):
    """The stages of one way to write, in their order."""

    __slots__ = ("_parts",)

    def __init__(self, *stages: Work[W] | Checks[W] | Wait[W]) -> None:
        parts: list[_Group[W] | Wait[W]] = []
        for waits, some in groupby(stages, lambda stage: isinstance(stage, Wait)):
            if waits:
                parts += [stage for stage in some if isinstance(stage, Wait)]
            else:
                group = list(some)
                works = tuple(stage.work if isinstance(stage, Checks) else stage for stage in group)
                parts.append(_Group(works, any(isinstance(stage, Checks) for stage in group)))  # type: ignore[arg-type]
        self._parts = tuple(parts)

    async def run(self, api: API, write: W) -> None:
        """Take a write through all stages. Raises what a stage raises, TooManyRequests and Timeout."""
        parts, place = self._parts, 0
        while (place := await api.off_loop.slices.run(self._advance, api, write, place)) < len(parts):
            part = parts[place]
            if isinstance(part, Wait):
                await part.work(api, write)
            else:
                await _run_group(api, write, part)
            place += 1

    def _advance(self, api: API, write: W, place: int) -> int:
        """Run short stages from a place on. Return the place of the part that is to be awaited, or of the end."""
        parts = self._parts
        short = write.call.kind.webhook is None and not api.off_loop.is_long(write.size)
        while place < len(parts):
            part = parts[place]
            if isinstance(part, Wait):
                if part.when(api, write):
                    break
            elif not short or (part.checks and api.off_loop.is_long(part.cost(write))):
                break
            else:
                for work in part.works:
                    work(write)
            place += 1
        return place


async def _run_group(api: API, write: W, group: _Group[W]) -> None:
    """Run stages off the loop if they cost so much. Where one wants a conversion, fetch that and go on with it."""
    cost = group.cost(write)
    write.done = 0
    while True:
        try:
            if api.off_loop.is_long(cost):
                await make_ready(api, write.call.kind, write.call.subresource)
                await api.off_loop.run(cost, _walk, group.works, write)
                api.off_loop.keep((*vars(write).values(), write.call.floats))
            else:
                await api.off_loop.slice(_walk, group.works, write)
        except Unconverted as unconverted:  # a stage that raises this has changed nothing, and is run again
            await unconverted.fetch(api.converter)
        else:
            return


def _walk(works: tuple[Work[W], ...], write: W) -> None:
    for work in works[write.done :]:
        work(write)
        write.done += 1
