"""Makes a plan: loads the state of an API into memory, applies the set to it, and collects the changes."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, NamedTuple

from podless.apis import features
from podless.fields.kubectl import LAST_APPLIED
from podless.plan import planfile, writes
from podless.plan.applyset import ApplySet
from podless.plan.baseline import Baseline, PlanSource, Say, load_baseline
from podless.plan.differences import compare_objects, find_consequences
from podless.plan.manifests import Identity, Item, ObjectPosition, Unreadable, sort_items
from podless.plan.options import AS_GIVEN, CLIENT_SIDE, CREATE, KUBECTL, PlanOptions
from podless.plan.prune import CannotPrune, choose_labelled, delete_object, find_pruned
from podless.plan.result import Action, Cause, Change, Plan, UnreadPart
from podless.plan.secrecy import hide_message
from podless.plan.simulation import Simulation
from podless.remote.cluster import Refused
from podless.remote.resources import APIResource
from podless.runtime.jsonobject import Object

Observe = Callable[[Simulation, int], Awaitable[None]]
_UNSERVED = (
    'resource mapping not found for name: "{name}" namespace: "{namespace}" from "{file}": no matches for kind '
    '"{kind}" in version "{api_version}"; ensure CRDs are installed first'
)
_ELSEWHERE = (
    'the namespace from the provided object "{found}" does not match the namespace "{wanted}". You must pass '
    "'--namespace={found}' to perform this operation."
)
_FIRST_REPORT = 50  # written objects before the first line of progress


async def make_plan(
    items: Sequence[Item],
    faults: Sequence[Unreadable],
    source: PlanSource,
    options: PlanOptions,
    say: Say = lambda text: None,
    observe: Observe | None = None,
) -> Plan:
    """Return the plan of applying a set.

    observe: called at the end with the server in memory, and the revision before the first write. Raises CannotPlan,
    StartError.
    """
    began = time.monotonic()
    baseline = await source.fetch(items, options, say)
    release = options.kubernetes_version or baseline.release
    async with Simulation(options, release) as simulation:
        plan = Plan(baseline.source, release or features.DEFAULT)
        plan.api, plan.notes = baseline.api, [*baseline.notes]
        plan.requests = dict(sorted(baseline.requests.items()))
        plan.missing += [*baseline.missing, *await load_baseline(simulation, baseline)]
        await _apply_first(simulation, baseline, options, plan)
        run = _PlanRun(simulation, baseline, options, plan, say)
        await run.apply_set(items, faults)
        plan.steps = run.list_steps()
        if observe is not None:
            await observe(simulation, run.revision)
        plan.webhooks = simulation.recorder.webhooks
    plan.seconds = time.monotonic() - began
    return plan


async def _apply_first(simulation: Simulation, baseline: Baseline, options: PlanOptions, plan: Plan) -> None:
    """Apply the manifests that the starting state consists of."""
    if not baseline.manifests:
        return
    first = Plan(baseline.source, plan.release)
    await _PlanRun(simulation, Baseline(), options, first, lambda text: None).write_first(baseline.manifests)
    for change in first.refused:
        plan.missing.append(UnreadPart(f"{change.place}: {change.identity}", change.message, "the state is without it"))
    simulation.recorder.webhooks.clear()


class _WrittenItem(NamedTuple):
    """An object that was written. manifest: the object in the set, {} for another one. place: in the set, if any."""

    change: Change
    resource: APIResource
    manifest: Object = {}
    place: ObjectPosition | None = None


class _PlanRun:
    """One set on one server in memory."""

    def __init__(self, simulation: Simulation, baseline: Baseline, options: PlanOptions, plan: Plan, say: Say) -> None:
        self._simulation = simulation
        self._baseline = baseline
        self._options = options
        self._plan = plan
        self._say = say
        self._namespace = options.namespace or baseline.namespace
        self._send = simulation.as_user
        self._revisions = planfile.index_revisions(baseline.objects)
        self._applyset: ApplySet | None = None
        self._served: set[tuple[str, str]] | None = None
        self.touched: dict[str, _WrittenItem] = {}  # the set's objects, by key
        self.revision = 0
        self.written: list[_WrittenItem] = []
        self.deleted: list[tuple[APIResource, Object]] = []

    async def apply_set(self, items: Sequence[Item], faults: Sequence[Unreadable]) -> None:
        """Apply all items, prune, and collect the consequences."""
        simulation, plan = self._simulation, self._plan
        for fault in faults:
            line, column = fault.place.find_fault(fault.message)
            identity = Identity("", "", "", "")
            plan.changes.append(Change(Action.REFUSED, identity, fault.place.file, line, column, fault.safe_message))
        if self._options.prune:
            items = choose_labelled(items, self._options.prune)
        await self._find_applyset()
        api = simulation.api
        await simulation.settle()
        revision = self.revision = await api.store.read_revision()
        with api.store.hold_history():
            await self.write_set(items)
            await simulation.settle()
            await self._update_changes(revision)
            changes = await find_consequences(simulation, revision, {*self.touched})
            for change in changes:
                if change.action is Action.DELETE and self._is_pruned(change.identity):
                    change.consequence, change.message = False, "the set has it no longer"
            plan.changes += changes
            self._settle_parent()

    async def _update_changes(self, revision: int) -> None:
        """Update the changes of objects that the server changed after their write."""
        last = {change.key: change.revision for change in await self._simulation.api.store.read_changes("/", revision)}
        for key, (change, resource, manifest, _) in self.touched.items():
            after = change.after
            if after is None or key not in last or after["metadata"].get("resourceVersion") == str(last[key]):
                continue
            metadata = after["metadata"]
            namespace, name = metadata.get("namespace") or "", metadata["name"]
            change.after = await writes.read_object(self._simulation.as_admin, resource, namespace, name)
            if change.after is not None and change.action not in (Action.UNKNOWN, Action.REFUSED):
                _complete_change(change, manifest, {})

    def _settle_parent(self) -> None:
        """Add the change of the ApplySet's parent, which is not an object of the set."""
        if self._applyset is None:
            return
        change = self._applyset.change
        if change.action in (Action.UNCHANGED, Action.CREATE, Action.UPDATE):
            change.action = Action.UNCHANGED
            if change.after is not None:
                _complete_change(change, self._applyset.patch, {})
            if change.action is Action.UNCHANGED:
                self._plan.changes.remove(change)

    async def write_first(self, items: Sequence[Item]) -> None:
        """Write the objects of the starting state as an administrator, and prune nothing."""
        self._send = self._simulation.as_admin
        if self._options.applyset:
            await self._find_applyset()
            assert self._applyset is not None
            items = await self._applyset.label_objects(items, self._locate_item, {})
        await self._write_all(items)

    async def write_set(self, items: Sequence[Item]) -> None:
        """Write all objects in order, and delete those that the set no longer has."""
        if self._applyset is not None:
            items = await self._applyset.label_objects(items, self._locate_item, self._baseline.unknown)
            if self._applyset.change.action is Action.REFUSED:
                self._plan.notes.append("kubectl applies nothing, because it cannot use the ApplySet")
                return
        await self._write_all(items)
        if not self._options.prune and not self._options.applyset:
            return
        if self._plan.refused:
            self._plan.notes.append("kubectl prunes nothing, because something is rejected")
            return
        pruned = await self._prune_objects()
        if self._applyset is not None and pruned:
            await self._applyset.shrink_parent()

    async def _write_all(self, items: Sequence[Item]) -> None:
        if self._options.order == AS_GIVEN:
            registry = self._simulation.api.registry
            self._served = {(kind.group, kind.kind) for kind in registry}
        ordered = sort_items(items, self._options.order)
        for number, item in enumerate(ordered):
            if number >= _FIRST_REPORT:
                self._say(f"{number} of {len(ordered)} objects")
            self._plan.changes.append(await self._write_item(item))

    async def _find_applyset(self) -> None:
        """Find the parent of the ApplySet. Raises CannotPlan."""
        if self._options.applyset:
            self._applyset = applyset = await ApplySet.find(self._simulation, self._send, self._options, self._plan)
            self._note_touched(applyset.change.identity, _WrittenItem(applyset.change, applyset.parent.resource))

    def _locate_item(self, item: Item) -> tuple[APIResource, str] | None:
        """Return the resource and namespace of an item; None if kubectl does not know its kind."""
        resource = self._find_resource(item.identity)
        if resource is None or self._is_elsewhere(item, resource):
            return None
        return resource, Identity.of(place_object(item.obj, resource, self._namespace)).namespace

    async def _prune_objects(self) -> bool:
        """Delete objects that the set no longer has. Returns False if the API rejects a deletion."""
        visited = {change.identity.namespace for change in self._plan.changes if change.identity.namespace}
        uids = {change.after["metadata"]["uid"] for change in self._plan.changes if change.after is not None}
        if self._applyset is not None:
            pruned = await self._applyset.find_members(uids)
        else:
            visited |= {self._options.namespace} - {""}
            try:
                pruned = await find_pruned(self._send, self._options.prune, sorted(visited), uids)
            except CannotPrune as error:
                self._plan.changes.append(Change(Action.REFUSED, error.identity, message=str(error), code=error.code))
                return False
        for resource, obj in pruned:
            identity = Identity.of(obj)
            self._simulation.recorder.begin_write()
            try:
                await delete_object(self._send, resource, obj)
            except Refused as refused:
                text = hide_message(identity, str(refused), obj)
                change = Change(Action.REFUSED, identity, message=text, code=refused.code, before=obj)
                self._plan.changes.append(change)
                continue
            self.deleted.append((resource, obj))
        return not self._plan.refused

    async def _write_item(self, item: Item) -> Change:
        options, simulation = self._options, self._simulation
        identity = item.identity
        line, column = item.place.find_position()
        resource = self._find_resource(identity)
        if resource is None:
            text = _UNSERVED.format(file=item.place.file, **identity._asdict())
            return Change(Action.REFUSED, identity, item.place.file, line, column, text, 404)
        obj = place_object(item.obj, resource, self._namespace)
        identity = Identity.of(obj)
        change = Change(Action.UNCHANGED, identity, item.place.file, line, column)
        if self._is_elsewhere(item, resource):
            line, column = item.place.find_position("metadata.namespace")
            text = _ELSEWHERE.format(found=identity.namespace, wanted=options.namespace)
            return Change(Action.REFUSED, identity, item.place.file, line, column, text)
        if identity in self._baseline.unknown:
            change.action, change.message = Action.UNKNOWN, self._baseline.unknown[identity]
        item_written = _WrittenItem(change, resource, obj, item.place)
        if identity.name:
            self._note_touched(identity, item_written)
        simulation.recorder.begin_write()
        try:
            if identity.name and (options.mode != CREATE):
                change.before = await writes.read_object(
                    simulation.as_admin, resource, identity.namespace, identity.name
                )
                if options.mode == CLIENT_SIDE and options.user:  # kubectl reads it, too, so the user needs the right
                    await writes.read_object(self._send, resource, identity.namespace, identity.name)
            body = self._translate_revision(obj, change)
            written = await writes.write_object(self._send, resource, body, change.before, options)
        except (Refused, writes.Unwritable) as refused:
            if change.action is not Action.UNKNOWN:
                _note_refusal(change, item.place, refused, obj)
            return change
        change.after = written.obj
        change.warnings = [hide_message(identity, text, obj, change.before, written.obj) for text in written.warnings]
        self.written.append(item_written)
        self._note_name(change, resource, written.obj)
        if change.action is not Action.UNKNOWN:
            manifest = obj if options.mode != CLIENT_SIDE else _with_record(obj)
            _complete_change(change, manifest, simulation.recorder.changes)
        return change

    def _note_touched(self, identity: Identity, item: _WrittenItem) -> None:
        kind = self._simulation.find_kind(identity.api_version, identity.kind)
        if kind is not None:
            self.touched[kind.key(identity.namespace, identity.name)] = item

    def _translate_revision(self, obj: Object, change: Change) -> Object:
        """Return the object with its resourceVersion translated from the API's state to the server in memory."""
        requested = obj["metadata"].get("resourceVersion")
        if not requested or change.before is None:
            return obj
        revision = str(change.before["metadata"]["resourceVersion"])
        is_first = int(revision) <= self.revision
        if is_first and requested == self._revisions.get(change.identity.key):
            requested = revision
        elif requested == revision:
            requested = "1"  # not the revision of this server, although the numbers are equal
        return {**obj, "metadata": {**obj["metadata"], "resourceVersion": requested}}

    def _note_name(self, change: Change, resource: APIResource, obj: Object) -> None:
        metadata = obj["metadata"]
        if not change.identity.name:
            self._note_touched(change.identity._replace(name=metadata["name"]), _WrittenItem(change, resource))
            change.identity = change.identity._replace(name=f"{metadata.get('generateName', '')}*")

    def list_steps(self) -> list[Object]:
        """Return the writes that carry the plan out, in order, with the states of the API that they expect."""
        steps = [
            planfile.make_step(change, resource, manifest, place, self._revisions)
            for change, resource, manifest, place in self.written
            if change.action in (Action.CREATE, Action.UPDATE) and place is not None
        ]
        steps += [planfile.make_deletion(resource, obj, self._revisions) for resource, obj in self.deleted]
        return steps if self._applyset is None else self._applyset.wrap_steps(steps, self._revisions)

    def _is_pruned(self, identity: Identity) -> bool:
        return any(Identity.of(obj).key == identity.key for _, obj in self.deleted)

    def _is_elsewhere(self, item: Item, resource: APIResource) -> bool:
        """Return whether kubectl rejects an object because it has another namespace than `--namespace`."""
        requested, stated = self._options.namespace, item.identity.namespace
        by_kubectl = self._options.order in (KUBECTL, AS_GIVEN)
        return by_kubectl and resource.namespaced and bool(requested and stated) and requested != stated

    def _find_resource(self, identity: Identity) -> APIResource | None:
        if self._served is not None and (identity.group, identity.kind) not in self._served:
            return None
        return self._simulation.find_resource(identity.api_version, identity.kind)


def place_object(obj: Object, resource: APIResource, namespace: str) -> Object:
    """Return an object with the namespace that kubectl gives it."""
    metadata = obj.get("metadata")
    metadata = dict(metadata) if isinstance(metadata, dict) else {}
    if resource.namespaced:
        metadata["namespace"] = metadata.get("namespace") or namespace
    else:
        metadata.pop("namespace", None)
    return {**obj, "metadata": metadata}


def _with_record(obj: Object) -> Object:
    metadata = obj["metadata"]
    return {**obj, "metadata": {**metadata, "annotations": {**(metadata.get("annotations") or {}), LAST_APPLIED: ""}}}


def _complete_change(change: Change, manifest: Object, recorded: dict[str, set[Any]]) -> None:
    """Complete a change with the result of a write."""
    before, after = change.before, change.after
    assert after is not None
    if before is not None and before["metadata"].get("resourceVersion") == after["metadata"].get("resourceVersion"):
        return
    change.fields = compare_objects(change.identity, before, after, manifest, recorded)
    if before is None:
        change.action = Action.CREATE
    elif change.fields:
        change.action = Action.UPDATE


def _note_refusal(
    change: Change, place: ObjectPosition, refused: Refused | writes.Unwritable, manifest: Object
) -> None:
    """Complete a change with an error and the places of its fields."""

    def hide_text(text: str) -> str:
        return hide_message(change.identity, text, manifest, change.before)

    change.action, change.message = Action.REFUSED, hide_text(str(refused))
    if not isinstance(refused, Refused):
        return
    change.code = refused.code
    details: Iterable[Object] = (refused.status.get("details") or {}).get("causes") or ()
    causes = []
    for cause in details:
        path = str(cause.get("field") or "")
        try:
            line, column = place.find_position(path)
        except ValueError:  # the server's path is not a path in the object
            line, column = change.line, change.column
        causes.append(Cause(path, hide_text(str(cause.get("message") or "")), line, column))
    change.causes = causes
    named = [cause for cause in causes if cause.field]
    if named:
        change.line, change.column = named[0].line, named[0].column
