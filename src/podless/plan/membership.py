"""The ApplySet of a plan: its parent before and after the set."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from podless.plan import planfile
from podless.plan.applyset import PART_OF, ApplySet, BadApplySet, GroupKind, label_member, parse_reference, write_parent
from podless.plan.manifests import Identity, Item
from podless.plan.options import CannotPlan, PlanOptions
from podless.plan.requests import SendRequest
from podless.plan.result import Action, Change, Plan, UnreadPart
from podless.plan.simulation import Simulation
from podless.plan.writes import read_object
from podless.remote.cluster import Refused
from podless.remote.resources import APIResource
from podless.runtime.jsonobject import Object

Locate = Callable[[Item], tuple[APIResource, str] | None]
_LABELLED = f'ApplySet label "{PART_OF}" already set in input data'
_UNKNOWN = "what would be pruned is not in the plan, and the plan cannot be applied"


class Membership:
    """An ApplySet while a set is applied. change: of the parent. patch: the last patch of the parent."""

    def __init__(self, simulation: Simulation, send: SendRequest, applyset: ApplySet, plan: Plan) -> None:
        parent = applyset.parent
        identity = Identity(parent.api_version, parent.kind, applyset.namespace, applyset.name)
        self.change = Change(Action.UNCHANGED, identity, message="the parent of the ApplySet")
        self.patch: Object = {}
        self.endpoint = parent
        self._simulation = simulation
        self._send = send
        self._applyset = applyset
        self._plan = plan
        self._first: Object = {}

    @classmethod
    async def find_parent(
        cls, simulation: Simulation, send: SendRequest, options: PlanOptions, plan: Plan
    ) -> Membership:
        """Find the parent. send: of the user who applies the set. Raises CannotPlan for an unusable parent."""
        reference = parse_reference(options.applyset)
        endpoint = await simulation.make_discovery().find_resource(reference.resource, reference.group)
        if endpoint is None:
            location = f"{reference.group}/, Resource={reference.resource}"
            raise CannotPlan(f'invalid parent reference "{options.applyset}": no matches for {location}')
        namespace = options.namespace if endpoint.namespaced else ""
        applyset = ApplySet(endpoint, reference.name, namespace, f"kubectl/v{plan.release}.0")
        try:
            await applyset.check_parent(send)
        except BadApplySet as error:
            raise CannotPlan(str(error)) from None
        plan.applyset = applyset.id
        return cls(simulation, send, applyset, plan)

    async def label_objects(self, items: Sequence[Item], locate: Locate, unknown: Mapping[Identity, str]) -> list[Item]:
        """Label all objects, and add their kinds to the parent. Returns the objects to write after that.

        locate: returns the endpoint and namespace of an object. unknown: objects that could not be read.
        """
        change, applyset = self.change, self._applyset
        self._plan.changes.append(change)
        change.before = await read_object(self._simulation.as_admin, self.endpoint, applyset.namespace, applyset.name)
        if change.identity in unknown:
            change.action, change.message = Action.UNKNOWN, unknown[change.identity]
            self._plan.missing.append(UnreadPart(str(change.identity), change.message, _UNKNOWN))
        labelled = [item for item in items if PART_OF in (item.metadata.get("labels") or {})]
        members = [] if labelled else self._add_members(items, locate)
        try:
            if change.action is not Action.UNKNOWN:
                await applyset.read_parent(self._send, self._simulation.make_discovery())
            await self._write_parent(latest=False)
        except BadApplySet as error:
            self._note_refusal(str(error))
            return []
        self._first = self.patch
        for item in labelled[:1]:
            line, column = item.place.find_position("metadata.labels")
            refused = Change(Action.REFUSED, item.identity, item.place.file, line, column, _LABELLED)
            self._plan.changes.append(refused)
        return members

    def _add_members(self, items: Sequence[Item], locate: Locate) -> list[Item]:
        """Return the items with the label of members."""
        defined = dict(filter(None, map(_read_definition, items)))
        for item in items:
            kind = GroupKind(item.identity.group, item.identity.kind)
            location = locate(item)
            if location is not None:
                self._applyset.add_member(kind, location[1])
            elif kind in defined:
                self._applyset.add_member(kind, item.identity.namespace if defined[kind] else "")
        return [Item(label_member(item.obj, self._applyset.id), item.place) for item in items]

    async def find_members(self, applied: Collection[str]) -> list[tuple[APIResource, Object]]:
        """Return the members that the set no longer has. applied: uids of those that it has."""
        try:
            return await self._applyset.find_members(self._send, applied)
        except BadApplySet as error:
            self._note_refusal(str(error))
            return []

    async def shrink_parent(self) -> None:
        """Reduce the parent's list to the kinds and namespaces of the remaining members."""
        try:
            await self._write_parent(latest=True)
        except BadApplySet as error:
            self._note_refusal(f"apply and prune succeeded, but ApplySet update failed: {error}")

    async def _write_parent(self, *, latest: bool) -> None:
        """Write the parent. Raises BadApplySet."""
        self.patch = self._applyset.make_patch(latest=latest)
        try:
            answered = await write_parent(self._send, self._applyset.path, self.patch)
        except Refused as refused:
            raise BadApplySet(f"failed to update ApplySet: {refused}") from None
        self.change.after = answered.obj

    def _note_refusal(self, text: str) -> None:
        if self.change.action is not Action.UNKNOWN:
            self.change.action, self.change.message = Action.REFUSED, text

    def wrap_steps(self, steps: list[Object], revisions: Mapping[planfile.Key, str]) -> list[Object]:
        """Return the steps of a plan, with the writes of the parent before and after them."""
        if self.change.action in (Action.REFUSED, Action.UNKNOWN):
            return []
        if not steps and self.change.action is Action.UNCHANGED:
            return []
        first = planfile.make_parent_step(self.change, self.endpoint, self._first, revisions, latest=False)
        last = planfile.make_parent_step(self.change, self.endpoint, self.patch, revisions, latest=True)
        return [first, *steps, *([last] if self.patch != self._first else [])]


def _read_definition(item: Item) -> tuple[GroupKind, bool] | None:
    """Return the kind that an item defines, and whether it is namespaced."""
    spec = item.obj.get("spec")
    if item.obj["kind"] != "CustomResourceDefinition" or not isinstance(spec, dict):
        return None
    names = spec.get("names")
    kind = names.get("kind") if isinstance(names, dict) else ""
    return GroupKind(str(spec.get("group")), str(kind)), spec.get("scope") == "Namespaced"
