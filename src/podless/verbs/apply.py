"""apply: server-side apply. The request says what its manager wants; the server merges it with what others own.

Source: k8s.io/apiserver pkg/endpoints/handlers (patch), and the recorded answers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from podless.admission import UPDATE
from podless.cache.entry import Entry
from podless.fields import managers, scaling, values
from podless.kinds import view
from podless.kinds.builtin import scales
from podless.kinds.custom import CustomStrategy
from podless.meta import alike, clock, codec, gotypes, objectmeta, restore, structs
from podless.meta.aside import LONG
from podless.meta.errors import BadRequest, Conflict, Forbidden, Internal, Invalid
from podless.verbs import admit, fieldmanager, options, steps, storage
from podless.verbs.call import API, Call, Document, Single
from podless.verbs.create import prepare
from podless.verbs.storage import Action, Next
from podless.verbs.update import Rewriting, rewrite

Object = dict[str, Any]
_TIMES = ("creationTimestamp", "deletionTimestamp")  # of an object; who applies one never sets them

_NO_SCALE = "request to convert CR to an invalid group/version: autoscaling/v1"


async def apply(api: API, call: Call) -> Single:
    """Create the object or bring it to what the manager applies; or its status, which must be there.

    Raises BadRequest, NotFound, ApplyConflict, Conflict, Invalid, Forbidden, or Internal (as a real server does where
    what is applied is not of the schema).
    """
    size = len(call.body)
    request = _Request(call) if size < LONG else await api.aside.run(size, _Request, call)
    api.aside.keep(request.body)
    warned = len(call.warnings)
    made: Single | None = None

    def merge(old: Object) -> Object:
        return request.fit(request.merged(old), old)

    async def change(old: Object) -> Object:
        obj = merge(old) if size < LONG else await api.aside.run(size, merge, old)
        return await admit.mutate(api, call, request.chosen, obj, old) if admit.mutates(api, call, UPDATE) else obj

    rewriting = Rewriting(api, call, request.chosen, change)

    async def attempt(entry: Entry | None) -> Next | Action:
        nonlocal made
        made = None
        if entry is not None or not _creates(call):
            return await rewriting.attempt(entry)
        del call.warnings[warned:]
        made = Single(None, await _create(api, call, request), 201)
        return Action.KEEP if request.chosen.dry_run else Next(made.obj or {}, call.along)

    written = await storage.update(api, call.kind, call.key, attempt)
    if made is not None:
        return made if written.entry is None else Single(written.entry, None, made.code)
    return rewriting.answer or Single(written.entry)


def _creates(call: Call) -> bool:
    """Whether what is not there is made."""
    if not call.subresource:
        return True
    return call.subresource == "status" and "apply" in call.kind.strategy.created_by_status


class _Request:
    """What is applied, by whom and how. Raises Invalid for its options and BadRequest for its body."""

    def __init__(self, call: Call, api_version: str = "", kind: str = "") -> None:
        self.call = call
        self.chosen = options.write(call, "PatchOptions", apply=True)
        self.force = bool(options.truth(call, "force"))
        self.repeated: list[str] = []
        self.body = _decode(call.body, self.repeated)
        self.nulls = codec.has_nulls(self.body)
        self.type = api_version or call.api_version, kind or call.kind.kind

    def check_type(self) -> None:
        """Raises BadRequest where what is applied is not of the kind and version of the path."""
        given = _type(self.body)
        if given != self.type:
            group, _, version = given[0].rpartition("/")
            raise BadRequest(f"invalid object type: {group}/{version}, Kind={given[1]}")

    def merged(self, live: Object | None) -> Object:
        """The live object (None for none) with the applied one merged into it, and its managedFields.

        Raises BadRequest, ApplyConflict or Internal.
        """
        self.check_type()
        place = fieldmanager.place(self.call)
        settled = live is not None and fieldmanager.settled(self.call, live)
        merged = managers.apply(place, live, self.body, self.chosen.manager, self.force, clock.now(), settled=settled)
        if self.repeated and self.chosen.validation == "Strict":
            found = codec.strict_text(self.repeated)
            raise BadRequest(f"error strict decoding YAML: error converting YAML to JSON: {found}")
        if self.chosen.validation != "Ignore":
            self.call.warnings += self.repeated
        entries = merged["metadata"].pop("managedFields", [])
        merged = view.copy(merged)  # the parts that it shares with what was given must stay as they are
        managers.put(merged["metadata"], entries)
        return merged

    def fit(self, merged: Object, live: Object | None) -> Object:
        """The merged object as one of the kind, with its defaults, of the name and namespace of the path.

        live: what it was merged into. Raises BadRequest.
        """
        call = self.call
        entries = merged["metadata"].pop("managedFields", [])
        obj = self._typed(merged) if call.kind.struct_of(call.version) is not None else self._loose(merged, live)
        metadata = obj["metadata"]
        steps.fit_namespace(call, metadata)
        steps.fit_name(call, metadata)
        self._default(obj)
        managers.put(metadata, entries)
        return obj

    def _typed(self, merged: Object) -> Object:
        """A built-in object. Raises Internal."""
        call, struct = self.call, self.call.kind.struct_of(self.call.version)
        assert struct is not None
        if unread := (self.body.get("metadata") or {}).get("managedFields"):  # or it had been refused
            merged["metadata"]["managedFields"] = unread
        try:
            return call.kind.strategy.decode(call.kind, call.version, restore.restored(struct, merged), [], fill=False)
        except (restore.Misfit, structs.DecodeError) as error:
            what = managers.described(self.body)
            why = f"unable to convert unstructured object to {what.partition('; ')[2]}: {error}"
            raise Internal(f"failed to convert new object ({what}) to proper version: {why}") from None

    def _default(self, obj: Object) -> None:
        """Fill in defaults; unlike in other writes, nulls that the schema does not allow stay, and are refused."""
        call, strategy = self.call, self.call.kind.strategy
        if self.nulls and isinstance(strategy, CustomStrategy):
            strategy.schema(call.version).fill(obj)
        else:
            strategy.fill(call.kind, call.version, obj)

    def _loose(self, merged: Object, live: Object | None) -> Object:
        """A custom object, which is pruned only after it was judged. Raises Internal."""
        self.call.loose = True
        metadata = merged.get("metadata") or {}
        if live is not None and _unchanged(metadata, live["metadata"]):
            return merged
        try:
            merged["metadata"] = _metadata(metadata)
        except structs.DecodeError as error:
            what = managers.described(self.body)
            raise Internal(f"failed to convert new object ({what}) to proper version: {error}") from None
        return merged


def _unchanged(metadata: Object, live: Object) -> bool:
    """Whether metadata is that of the object as it was read, which is in its form, but for who manages it."""
    known = live.copy()
    known.pop("managedFields", None)
    return values.equal(metadata, known)


def _metadata(metadata: Object) -> Object:
    """The metadata of a custom object; a time that cannot be read is none, as Go's unstructured objects have it."""
    try:
        return objectmeta.coerce(metadata, [])
    except structs.DecodeError:
        return objectmeta.coerce({name: value for name, value in metadata.items() if name not in _TIMES}, [])


def _decode(raw: bytes, repeated: list[str]) -> Object:
    """The applied object. Raises BadRequest."""
    value = None if isinstance(raw, codec.ParsedYAML) else alike.decode(raw)
    if value is None:
        try:
            value = codec.decode_yaml(raw, repeated)
        except codec.YAMLError as error:
            raise BadRequest(f"error decoding YAML: error converting YAML to JSON: {error.message}") from None
    if value is not None and not isinstance(value, dict):
        why = (
            f"json: cannot unmarshal {gotypes.JSON_NAMES[type(value)]} into Go value of type map[string]interface {{}}"
        )
        raise BadRequest(f"error decoding YAML: error unmarshaling JSON: while decoding JSON: {why}")
    return value or {}


def _type(obj: Object) -> tuple[str, str]:
    """apiVersion and kind; what is no sound apiVersion leaves nothing of either."""
    version, kind = obj.get("apiVersion"), obj.get("kind")
    version = version if isinstance(version, str) else ""
    if version.count("/") > 1:
        return "", ""
    return "" if version == "/" else version, kind if isinstance(kind, str) else ""


async def _create(api: API, call: Call, request: _Request) -> Object:
    """The new object as it is to be stored. Raises Denied, and what `prepare` does."""
    kind = call.kind
    steps.may_create(api, call)
    size = len(call.body)
    merged = await api.aside.run(size, request.merged, None)
    if merged["metadata"].get("uid"):
        why = f"uid mismatch: the provided object specified uid {merged['metadata']['uid']}, and no existing object was"
        raise Conflict(kind.plural, kind.group, call.name, f"{why} found")
    obj = await api.aside.run(size, request.fit, merged, None)
    if kind.terminating:
        why = "create not allowed while custom resource definition is terminating"
        raise Forbidden(kind.plural, kind.group, call.name, why)
    obj = await admit.mutate(api, call, request.chosen, obj)
    await steps.dedupe_owners(api, call, obj["metadata"], after_admission=True)
    steps.fit_namespace(call, obj["metadata"])
    _check_revision(obj["metadata"], kept=request.chosen.dry_run)
    return await prepare(api, call, obj, request.chosen)


def _check_revision(metadata: Object, *, kept: bool) -> None:
    """A resourceVersion that is a number says nothing here. kept: it is shown again. Raises Internal for any other."""
    given = metadata.get("resourceVersion") or ""
    if not kept:
        metadata.pop("resourceVersion", None)
    try:
        if given:
            options.parse_revision(given)
    except ValueError as error:
        raise Internal(str(error)) from None


async def apply_scale(
    api: API, call: Call, shown: Callable[[Object], Object], put: Callable[[Object, Object], Object] | None
) -> Document:
    """Apply to the Scale of an object. Of custom objects, as on a real server, only what changes nothing can succeed.

    shown: gives the Scale of an object. put: gives the object with what its Scale says, None for custom ones.
    Raises as `apply` does.
    """
    request = _Request(call, scaling.SCALE, "Scale")
    if (await api.loaded(call.kind)).get(call.key) is None:
        raise call.not_found()

    async def change(old: Object) -> Object:
        request.check_type()
        entries = fieldmanager.scale_entries(call, old)
        if not entries and put is None:
            why = f"failed to convert live object (/; autoscaling/v1, Kind=Scale) to proper version: {_NO_SCALE}"
            raise Internal(f"failed to create manager for existing fields: {why}")
        scale = shown(old)
        managers.put(scale["metadata"], entries)
        applied = await admit.mutate(api, call, request.chosen, request.merged(scale), scale)
        written = applied["metadata"].pop("managedFields", [])
        scale["metadata"].pop("managedFields", None)
        if put is not None:
            obj = put(old, _sound_scale(call, applied))
            managers.put(obj["metadata"], fieldmanager.rescaled(call, old, written))
            return obj
        if not values.equal(applied, scale):
            what = managers.described(request.body)
            raise Internal(f"failed to convert new object ({what}) to proper version: {_NO_SCALE}")
        obj = {**old, "metadata": dict(old["metadata"])}
        managers.put(obj["metadata"], fieldmanager.rescaled(call, old, written))
        return obj

    written = await rewrite(api, call, request.chosen, change, shown)
    if written.entry is None:
        return Document(shown(written.obj or {}))
    await api.converter.ready(call.kind, call.version, [written.entry])
    return Document(shown(view.load(call.kind, call.version, written.entry)))


def _sound_scale(call: Call, applied: Object) -> Object:
    """A Scale that was applied, of the object in the path. Raises BadRequest or Invalid."""
    steps.fit_namespace(call, applied["metadata"])
    steps.fit_name(call, applied["metadata"])
    if found := scales.faults(applied):
        raise Invalid("Scale", "autoscaling", call.name, found)
    return applied
