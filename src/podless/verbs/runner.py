"""The runner of the write path: runs the stages of a verb, and alone decides where each of them runs.

A stage is a function of the write, which belongs to its request, and changes nothing else. A stage that needs state of
other requests is a coroutine (`AwaitedStage`). The stages between two waits form a group, which runs in one of three
ways, by its declared cost:

- on the event loop without slices: all stages up to the first wait, if the object is very short (`_try_unsliced`). If
  they take longer than a slice, the write is restored, and they begin again in the second way.
- on the event loop in slices, for short objects (`_run_steps`)
- off the loop, for long objects (`_run_group`). The worker process parses a long body before (`parse_body`).
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Sequence
from itertools import groupby
from typing import Any, Final, Generic, TypeVar

from podless.admission import CombinedCommit
from podless.admission.plugin import Plugin
from podless.cache.entry import Entry
from podless.codec.serializer import ParsedYAML
from podless.kinds.conversion import Unconverted
from podless.meta.field import FieldError
from podless.offload.offloop import OffLoop
from podless.runtime.dataclass import dataclass
from podless.runtime.jsonobject import Object
from podless.store import StoredValue
from podless.verbs.call import API, Call, Single
from podless.verbs.options import WriteOptions
from podless.verbs.ready import keep_ready

# bytes of a body that the event loop parses; longer ones go to the worker process, because parsing keeps the GIL
_MAX_YAML = 64 * 1024
_MAX_JSON = 256 * 1024
_SHORT_WRITE = 4 * 1024  # bytes of a write whose stages nearly always end within a slice, by their declared cost


class Write:
    """One write on its way through its stages."""

    api: API  # set when the write runs
    base: Object  # the object with which each attempt begins, as the client sent it or admission left it
    obj: Object  # the new object
    old: Object | None = None  # the present object in the version of the call; None for a create
    entry: Entry | None = None  # the present object as stored
    stored: StoredValue | None = None  # the encoded new object
    encoded: tuple[Object, StoredValue] | None = None  # the object to store and its encoding, if made early
    along: CombinedCommit | None = None  # further keys to commit
    answer: Single | None = None  # the answer, if it is not the stored object
    # returns the form that validating admission sees, if not obj
    admission_form: Callable[[Object], Object] | None = None
    refused: Sequence[FieldError] = ()  # fields that the user may not write, reported with other errors
    added = 0  # approximate bytes that admission added
    prune_late = False  # prune the object after validation and admission, not before
    shared = False  # obj shares parts with old
    removed = False  # the write removes the object
    warned = 0  # number of warnings before the present attempt
    tries = 1  # attempts left to find a free name
    finished = 0  # number of finished stages of the present group
    # plugins by phase, found before the first of them runs
    mutating: Sequence[Plugin] = ()
    allocating: Sequence[Plugin] = ()
    validating: Sequence[Plugin] = ()

    def __init__(self, call: Call, options: WriteOptions) -> None:
        # most writes set few attributes, so the others have class defaults: each assignment costs time
        self.call = call
        self.options = options

    @property
    def size(self) -> int:
        """Approximate bytes of the longest form of the object."""
        entry, size = self.entry, len(self.call.body) + self.added
        return size if entry is None or len(entry.body) < size else len(entry.body)


async def parse_body(api: API, call: Call) -> None:
    """Parse a long body in the worker process, before it is decoded.

    A short YAML body of an apply that is also JSON is parsed on the thread, which takes less time. Raises Timeout and
    TooManyRequests.
    """
    body, worker = call.body, api.off_loop.worker
    if len(body) <= _MAX_YAML or "protobuf" in call.content_type:
        return
    if "yaml" not in call.content_type:
        call.body = await worker.parse_json(body) if len(body) > _MAX_JSON else body
    elif call.verb != "patch":
        call.body = await worker.parse_yaml(body)
    elif len(body) > _MAX_JSON:
        call.body = await worker.parse_applied(body)
    else:
        read = await api.off_loop.run(len(body), ParsedYAML.parse_as_json, body)
        call.body = read if read is not None else await worker.parse_yaml(body)


W = TypeVar("W", bound=Write)
V = TypeVar("V", bound=Write, contravariant=True)
Work = Callable[[W], None]
# runs a stage, or returns True if a group must be awaited
_Step = Callable[[W], bool | None]


@dataclass(frozen=True, eq=False)
class AwaitedStage(Generic[V]):
    """A stage that is awaited. is_needed: whether it must run; False for most writes.

    sliced: its steps run in slices. rare: only long bodies and kinds with a webhook can need it.
    """

    work: Callable[[API, V], Coroutine[Any, Any, None]]
    is_needed: Callable[[V], bool]
    sliced: bool = False
    rare: bool = False


@dataclass(frozen=True)
class ValidationStage(Generic[V]):
    """A stage that costs `ValidationCost.cost` times the length of the object."""

    work: Callable[[V], None]


class _StageGroup(Generic[W]):
    """Stages that run together. checks: whether one of them is a `ValidationStage`."""

    def __init__(self, stages: Sequence[Work[W] | ValidationStage[W]]) -> None:
        self.works = tuple(stage.work if isinstance(stage, ValidationStage) else stage for stage in stages)
        self.checks = any(isinstance(stage, ValidationStage) for stage in stages)

    def estimate_cost(self, write: W) -> int:
        """Return the cost of the stages in bytes: the length of an object that takes as long to decode."""
        return write.size * write.call.kind.strategy.checking.cost if self.checks else write.size

    def must_be_awaited(self, write: W) -> bool:
        """Return whether the stages must be awaited: they cost too much for the loop, or can need a webhook."""
        return write.call.kind.webhook is not None or OffLoop.is_long(self.estimate_cost(write))


PARSE: Final = AwaitedStage[Write](
    lambda api, write: parse_body(api, write.call), lambda write: len(write.call.body) > _MAX_YAML, rare=True
)


class Stages(Generic[W]):
    """The stages of a write, in order."""

    __slots__ = ("_groups", "_indexes", "_quick", "_steps")

    def __init__(self, *stages: Work[W] | ValidationStage[W] | AwaitedStage[W]) -> None:
        groups: list[_StageGroup[W] | AwaitedStage[W]] = []
        for waits, members in groupby(stages, lambda stage: isinstance(stage, AwaitedStage)):
            group: list[Any] = list(members)
            groups += group if waits else [_StageGroup(group)]
        self._groups = tuple(groups)
        self._indexes: dict[_Step[W], int] = {_get_condition(stage): index for index, stage in enumerate(groups)}
        self._quick = _list_steps(
            [stage for stage in groups if isinstance(stage, _StageGroup) or not stage.rare], quick=True
        )
        self._steps = tuple(_list_steps(groups[index:]) for index in range(len(groups) + 1))  # from each group on

    async def run(self, api: API, write: W) -> None:
        """Run a write through all stages. Raises the error of a stage, TooManyRequests or Timeout."""
        write.api, groups, slices = api, self._groups, api.off_loop.slices
        index = self._try_unsliced(write)
        if index is None:
            index = await slices.run(self._run_steps, self._steps[0], write)
        while index < len(groups):
            group = groups[index]
            if isinstance(group, _StageGroup):
                await _run_group(api, write, group)
            elif group.sliced:
                await slices.slice_coroutine(group.work(api, write))
            else:
                await group.work(api, write)
            index = await slices.run(self._run_steps, self._steps[index + 1], write)

    def _try_unsliced(self, write: W) -> int | None:
        """Run the steps of a very short write without slices. Return None, and undo them, if they take too long."""
        call = write.call
        kind = call.kind
        if kind.webhook is not None or write.size * kind.strategy.checking.cost > _SHORT_WRITE:
            return None
        before, warned, floats = vars(write).copy(), len(call.warnings), len(call.floats)
        index = write.api.off_loop.slices.try_work(self._run_steps, self._quick, write)
        if index is None:
            vars(write).clear()
            vars(write).update(before)
            del call.warnings[warned:], call.floats[floats:]
        return index

    def _run_steps(self, steps: Sequence[_Step[W]], write: W) -> int:
        """Run steps on the loop. Return the index of the group to await next; the number of groups at the end."""
        write.call.kind.strategy.form.mark_used()
        for step in steps:
            if step(write):
                return self._indexes[step]
        return len(self._groups)


def _list_steps(groups: Iterable[_StageGroup[W] | AwaitedStage[W]], *, quick: bool = False) -> tuple[_Step[W], ...]:
    """Return the steps of some groups: stages, each group after its condition. quick: without conditions of cost."""
    steps: list[_Step[W]] = []
    for group in groups:
        if isinstance(group, AwaitedStage) or not quick:
            steps.append(_get_condition(group))
        if isinstance(group, _StageGroup):
            steps += group.works
    return tuple(steps)


def _get_condition(group: _StageGroup[W] | AwaitedStage[W]) -> _Step[W]:
    """Return the step that tells whether a group must be awaited."""
    return group.is_needed if isinstance(group, AwaitedStage) else group.must_be_awaited


def is_short(write: Write) -> bool:
    """Return whether stages run on the event loop, except expensive checks."""
    return write.call.kind.webhook is None and not OffLoop.is_long(write.size)


async def _run_group(api: API, write: W, group: _StageGroup[W]) -> None:
    """Run stages, off the loop if they cost enough. If one needs a conversion, fetch it and continue there."""
    write.finished = 0
    while True:
        cost = group.estimate_cost(write)
        try:
            if api.off_loop.is_long(cost):
                async with keep_ready(api, write.call.kind, write.call.subresource):
                    await api.off_loop.run(cost, _run_works, group.works, write)
                api.off_loop.free_later((*vars(write).values(), write.call.floats))
            else:
                await api.off_loop.slices.run(_run_works, group.works, write)
        except Unconverted as unconverted:  # a stage that raises this has changed nothing, so it can run again
            write.added = max(write.added, await unconverted.fetch_converted(api.converter))
        else:
            return


def _run_works(works: tuple[Work[W], ...], write: W) -> None:
    for work in works[write.finished :]:
        work(write)
        write.finished += 1
