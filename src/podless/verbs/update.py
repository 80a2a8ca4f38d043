"""update: replace an object; and what all changes of an existing object share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from podless.admission import Along
from podless.admission.attributes import UPDATE, both
from podless.cache.entry import Entry
from podless.fields import managers
from podless.kinds import conversion, view
from podless.kinds.strategy import Strategy
from podless.meta import protobuf, sent
from podless.meta.aside import LONG
from podless.verbs import admit, body, fieldmanager, options, steps, storage
from podless.verbs.call import API, Call, Single
from podless.verbs.create import make
from podless.verbs.options import WriteOptions
from podless.verbs.ready import make_ready
from podless.verbs.storage import Action, Next

Object = dict[str, Any]
# the object now -> what it should be, with defaults and managedFields, after admission has seen it
Change = Callable[[Object], Awaitable[Object]]


async def update(api: API, call: Call) -> Single:
    """Replace the object, or its status, by what the body says. Raises what `rewrite` does, and BadRequest."""
    chosen = options.write(call, "UpdateOptions")
    size = len(call.body)
    given = body.read(call, chosen) if size < LONG else await api.aside.run(size, body.read, call, chosen)
    steps.fit_namespace(call, given["metadata"])
    steps.fit_name(call, given["metadata"])
    await steps.dedupe_owners(api, call, given["metadata"])
    if await _makes(api, call):
        steps.may_create(api, call)
        steps.read_revision(given["metadata"])
        steps.check_uid(call, given["metadata"], "", dry_run=chosen.dry_run)
        if not chosen.dry_run:
            given["metadata"].pop("resourceVersion", None)
        return await make(api, call, given, chosen)

    def merge(old: Object) -> Object:
        obj = view.copy(given, long=len(call.body) >= LONG)
        if call.kind.strategy.literal and not call.content_type.startswith((protobuf.MEDIA, "application/yaml")):
            call.kind.strategy.written(obj, call.body)
        steps.check_uid(call, obj["metadata"], old["metadata"].get("uid", ""), dry_run=chosen.dry_run)
        fieldmanager.changed(call, old, obj, chosen.manager)
        return obj

    async def change(old: Object) -> Object:
        obj = merge(old) if size < LONG else await api.aside.run(size, merge, old)
        return await admit.mutate(api, call, chosen, obj, old) if admit.mutates(api, call, UPDATE) else obj

    return await rewrite(api, call, chosen, change)


async def _makes(api: API, call: Call) -> bool:
    """Whether the update makes the object, as some built-in kinds allow."""
    strategy = call.kind.strategy
    if call.subresource:
        makes = call.subresource == "status" and "update" in strategy.created_by_status
    else:
        makes = strategy.created_by_update
    if not makes:
        return False
    return (await api.loaded(call.kind)).get(call.key) is None


async def rewrite(
    api: API, call: Call, chosen: WriteOptions, change: Change, shown: Callable[[Object], Object] | None = None
) -> Single:
    """Read the object, have it changed, check it and write it; again where somebody else wrote in between.

    shown: what admission is to see of the object, where that is not the object itself.
    Raises NotFound, Conflict, Invalid, or what `change` raises.
    """
    rewriting = Rewriting(api, call, chosen, change, shown)
    written = await storage.update(api, call.kind, call.key, rewriting.attempt)
    return rewriting.answer or Single(written.entry)


class Rewriting:
    """A change of an object that is there, as an attempt of storage.update; arguments as those of `rewrite`.

    answer: what is to be answered where that is not the object as it is stored then.
    """

    def __init__(
        self,
        api: API,
        call: Call,
        chosen: WriteOptions,
        change: Change,
        shown: Callable[[Object], Object] | None = None,
    ) -> None:
        self.answer: Single | None = None
        self._api, self._call, self._chosen = api, call, chosen
        self._change = change
        self._shown = shown
        self._warned = len(call.warnings)

    async def attempt(self, entry: Entry | None) -> Next | Action:
        """What becomes of the object. Raises what `rewrite` does."""
        api, call, chosen, shown = self._api, self._call, self._chosen, self._shown
        if entry is None:
            raise call.not_found()
        # two copies: a patch shares with what it is applied to, and the checks need the old state untouched
        kind, version, size = call.kind, call.version, len(entry.body)
        if size < LONG and kind.webhook is None:
            del call.warnings[self._warned :]
            old = view.load(kind, version, entry)
            obj = await self._change(view.load(kind, version, entry))
        else:
            old, obj = await self._changed(entry)
        await steps.dedupe_owners(api, call, obj["metadata"], after_admission=True)
        steps.check_revision(call, obj["metadata"], entry.revision)
        taken = await self._finish(obj, old, max(call.size, size))
        call.along = taken
        if admit.validates(api, call, UPDATE):
            seen = (obj, old) if shown is None else (shown(obj), shown(old))
            await admit.validate(api, call, chosen, *seen)
            call.along = both(call.along, taken)
        return await self._outcome(entry, obj, call.along)

    async def _changed(self, entry: Entry) -> tuple[Object, Object]:
        """The object as it is, and as it is wanted, where that takes its time or has to be asked for."""
        call = self._call
        while True:
            del call.warnings[self._warned :]
            await self._api.converter.ready(call.kind, call.version, [entry])
            load, size = self._api.aside.run, len(entry.body)
            if size >= LONG:
                await make_ready(self._api, call.kind, call.subresource)
            old = await load(size, view.load, call.kind, call.version, entry)
            try:
                return old, await self._change(await load(size, view.load, call.kind, call.version, entry))
            except conversion.Unconverted as unconverted:
                await unconverted.fetch(self._api.converter)

    async def _finish(self, obj: Object, old: Object, size: int) -> Along | None:
        """The steps between what the client wants and what is stored. size: in bytes, about."""
        api, call, taken = self._api, self._call, None
        if size < LONG:
            prepare(call, obj, old)
        else:
            await api.aside.run(size, prepare, call, obj, old)
        if call.kind.prefix in api.allocators:
            taken = await steps.allocate(api, call, obj, old, dry_run=self._chosen.dry_run)
        if call.kind.prefix in api.permits:
            await steps.permit(api, call, obj, old)
        size *= call.kind.strategy.strain
        if size < LONG:
            check(call, obj, old)
        else:
            await api.aside.run(size, check, call, obj, old)
        return taken

    async def _outcome(self, entry: Entry, obj: Object, along: Along | None) -> Next | Action:
        kind, converter = self._call.kind, self._api.converter
        obj["metadata"]["resourceVersion"] = str(entry.revision)
        if self._chosen.dry_run:
            self.answer = Single(None, await converter.unstored(kind, self._call.version, obj))
            return Action.KEEP
        if _ends(kind.strategy.ordered, obj):
            self.answer = Single(None, obj)  # as it was to be, at the revision that it had
            return Action.DELETE
        self.answer = None
        return Next(
            kind.strategy.store(kind, obj) if kind.webhook is None else await converter.stored(kind, obj), along
        )


def prepare(call: Call, obj: Object, old: Object) -> None:
    """Keep and reset what the client may not change."""
    strategy, metadata = call.kind.strategy.below(call.subresource), obj["metadata"]
    steps.keep(metadata, old["metadata"])
    if call.subresource == "status":
        strategy.prepare_status(call.version, obj, old)
        metadata = obj["metadata"]
    elif call.subresource == "finalize":
        strategy.prepare_finalize(call.version, obj, old)
    else:
        strategy.prepare_update(call.version, obj, old)


def check(call: Call, obj: Object, old: Object) -> None:
    """Count the change, settle whose fields are whose, and see that all rules are obeyed. Raises Invalid."""
    strategy, metadata = call.kind.strategy.below(call.subresource), obj["metadata"]
    if strategy.generation and call.subresource != "status" and _changed(call, strategy, obj, old):
        metadata["generation"] = metadata.get("generation", 0) + 1
    else:
        managers.settle(obj, old)
    steps.check_update(call, obj, old)
    if call.loose:
        strategy.trim(call.version, obj)
    if not call.subresource:
        steps.warn(call, obj, old)


def _changed(call: Call, strategy: Strategy[Any], obj: Object, old: Object) -> bool:
    if not call.floats:
        return strategy.changed(call.version, obj, old)
    with sent.as_sent(obj, call.floats):  # 1.0 in the place of 1 is a change
        return strategy.changed(call.version, obj, old)


def _ends(builtin: bool, obj: Object) -> bool:
    """Whether the object waited for its finalizers and this write takes the last one away."""
    metadata = obj["metadata"]
    if "deletionTimestamp" not in metadata or metadata.get("finalizers"):
        return False
    if metadata.get("deletionGracePeriodSeconds"):
        return False
    return not (builtin and (obj.get("spec") or {}).get("finalizers"))
