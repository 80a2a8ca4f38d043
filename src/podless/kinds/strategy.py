"""The rules of a kind: one method for each step of a write in which kinds differ.

The write path (verbs/) is the same for all kinds and calls these methods. The defaults fit an object with metadata and
no other rules. Methods work on decoded objects; `prepare` methods change them in place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from podless.codec import gotext
from podless.kinds.version import Version
from podless.meta import names
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object

Faults = Iterable[FieldError]

ONLY_SPEC = (("spec",),)
NOT_STATUS = (("metadata",), *ONLY_SPEC)  # status_resets of kinds whose status write changes nothing else
NOT_DESIRED: Object = {"metadata": None, "status": None}  # hides what is not desired state


class KindNames(Protocol):
    """The part of a kind that strategies use."""

    @property
    def storage_version(self) -> str:
        """The name of the storage version."""

    @property
    def by_version(self) -> Mapping[str, Version]:
        """All versions by name."""

    def api_version(self, version: str, /) -> str:
        """Return the apiVersion of objects in one version."""


K = TypeVar("K", bound=KindNames, contravariant=True)


class DeletionPolicy(NamedTuple):
    """How objects of a kind are deleted."""

    # deletes have grace periods and propagation policies. For other kinds, the first delete of a single object is a
    # stage of its own; deletes of marked objects and of collections are graceful for them too
    graceful: bool = True
    # that stage only marks the object, with the propagation policy in a finalizer; a later delete removes it
    marks_first: bool = False
    # the garbage collector deletes the objects with their owners, and they hold their dependents
    collected: bool = True
    orphans: bool = False  # dependents stay by default
    warning: str = ""  # the warning for a delete without a policy


class MetadataPolicy(NamedTuple):
    """How metadata of changed objects is validated, and which of it may change.

    on_update, on_status: how often a write repeats the errors of metadata as a whole, and of its immutable fields. A
    real server validates them once for all kinds, and again in the rules of most (ValidateObjectMetaUpdate).
    qualified_finalizers: finalizers need a domain, or are the server's own. drops_namespace: a namespace in a
    cluster-scoped object is dropped; otherwise it is an error.
    """

    on_update: tuple[int, int] = (1, 1)
    on_status: tuple[int, int] = (0, 1)
    qualified_finalizers: bool = True
    drops_namespace: bool = True


class ReadPolicy(NamedTuple):
    """How objects of a kind are read.

    cached: a real server keeps them in a watch cache, which answers lists at revision 0 whole. revisioned: a list has a
    revision. by_namespace: a field selector may use metadata.namespace even for a cluster-scoped kind.
    """

    cached: bool = True
    revisioned: bool = True
    by_namespace: bool = True


class ValidationCost(NamedTuple):
    """The cost of validating a kind."""

    preload: bool = False  # the rules take long to import; `Strategy.load_rules` imports them in advance
    # every error of a check is reported, so the check may stop after too many. Schemas try some values in several ways
    # and drop errors.
    repeats: bool = True
    cost: int = 1  # factor compared with other kinds
    # the change with which an update is validated once; earlier releases also validated the object as a new one
    # (runtime/release.py)
    once: str = ""


class CompiledForm:
    """What the rules of a kind are compiled to, and the memory that it takes: nothing, except for custom kinds."""

    __slots__ = ()

    def attach_table(self, table: dict[Any, Any]) -> None:
        """Take the table of all values that other layers derive from the kind, to clear it with the form."""

    def mark_used(self) -> None:
        """Mark the form as used by the loop, so that unused forms are dropped first."""

    def pin(self) -> None:
        """Keep the form until `unpin`: work off the loop uses it."""

    def unpin(self) -> None:
        """Undo one `pin`."""

    def drop_unused(self) -> None:
        """Drop the form, unless work off the loop uses it. Its next use compiles it again."""

    def weigh_form(self, values: list[Any]) -> int:
        """Return the bytes of the form and of more values that belong to it."""
        return 0

    def set_weight(self, weight: int) -> None:
        """Count the complete form as so many bytes."""


class Strategy(Generic[K]):
    """The rules of kinds of the type K."""

    form = CompiledForm()
    naming: names.Naming = names.SUBDOMAINS
    allow_unconditional_update = True  # an update may omit the resourceVersion
    allow_create_on_update = False  # an update creates a missing object
    has_generation = False  # metadata.generation counts changes of the desired state, see `increases_generation`
    reset_fields: tuple[tuple[str, ...], ...] = ()  # paths that a write does not change, if more than the status
    ordered = True  # objects are stored in the field order of their struct, not with sorted keys
    rearranged = False  # objects are sorted into that order when stored, because the rules can append fields
    marks = False  # parts of an object can be marked, see `unmark_object`
    metadata = MetadataPolicy(on_update=(0, 1), qualified_finalizers=False)
    deletion = DeletionPolicy()
    reads = ReadPolicy()
    checking = ValidationCost()

    @property
    def status_resets(self) -> tuple[tuple[str, ...], ...]:
        """The paths that a status write does not change."""
        return ONLY_SPEC

    def decode(
        self,
        kind: K,
        version: Version,
        obj: Object,
        unknown: list[str],
        stored_metadata: Object | None = None,
        *,
        fill: bool = True,
    ) -> Object:
        """Return the object without unknown fields and with defaults; unknown receives the paths of dropped fields.

        fill: apply defaults. stored_metadata: metadata that need not be decoded again. Raises structs.DecodeError for a
        value of the wrong type.
        """
        raise NotImplementedError

    def decode_and_check(
        self, kind: K, version: Version, obj: Object, unknown: list[str], stored_metadata: Object | None = None
    ) -> bool:
        """Decode a custom object in place. Return whether only its metadata still needs validation.

        False if in doubt. The parameters are those of `decode`.
        """
        raise NotImplementedError

    def get_openapi(self, version: Version) -> dict[str, Any] | None:
        """Return the openAPIV3Schema of a version, decoded once. Do not change it."""
        return version.schema

    def decode_admitted(
        self, kind: K, version: Version, obj: Object, before: Object | None, unknown: list[str]
    ) -> tuple[Object, bool]:
        """Decode an object that admission changed, as `decode` does.

        Return it, and whether it differed before the defaults from the object that admission got.
        """
        decoded = self.decode(kind, version, obj, unknown, fill=False)
        changed = decoded != before
        self.fill_defaults(kind, version, decoded)
        return decoded, changed

    def note_raw_json(self, obj: Object, raw: bytes) -> None:
        """Record details of the JSON (raw) of a changed object that decoding loses."""

    def unmark_object(self, obj: Object) -> Object:
        """Return the object with plain parts; its metadata is shared."""
        return obj

    def fill_computed_defaults(self, version: Version, obj: Object) -> None:
        """Fill in defaults that need code, not those of the struct."""

    def fill_defaults(self, kind: K, version: Version, obj: Object) -> None:
        """Fill in all defaults, also those of the struct."""
        self.fill_computed_defaults(version, obj)

    def read_stored(self, kind: K, version: Version, obj: Object) -> Object:
        """Return a stored object as one version shows it; may change it in place."""
        if obj["apiVersion"] == kind.api_version(version.name):
            return obj
        return self.convert_object(kind, version, obj)

    def make_stored(self, kind: K, obj: Object) -> Object:
        """Return an object of any version as it is stored; may change one of another version in place."""
        return self.read_stored(kind, kind.by_version[kind.storage_version], obj)

    def round_trip(self, obj: Object) -> Object:
        """Return a built-in object as it would be read after storing, without changing the given one."""
        return obj

    def reads_as_stored(self, kind: K) -> bool:
        """Return whether objects stored under the present kind are what the storage version shows."""
        return True

    def convert_object(self, kind: K, version: Version, obj: Object) -> Object:
        """Return an object in another version, without changing the given one."""
        return {**obj, "apiVersion": kind.api_version(version.name)}

    def early_warnings(self, obj: Object) -> list[str]:
        """Return warnings for a new object before it is prepared, even if it is rejected later."""
        return []

    def prepare_create(self, version: Version, obj: Object) -> None:
        """Reset fields that a client may not set on a new object."""

    def prepare_update(self, version: Version, obj: Object, old: Object) -> None:
        """Keep fields that a client may not change."""

    def prepare_status(self, version: Version, obj: Object, old: Object) -> None:
        """Keep everything except the status, and metadata that a status write may not change."""
        status = obj.get("status")
        metadata = obj["metadata"]
        for key in [key for key in obj if key not in ("status", "metadata")]:
            del obj[key]
        obj.update({key: value for key, value in old.items() if key not in ("status", "metadata")})
        obj["metadata"] = metadata
        if status is None:
            obj.pop("status", None)
        else:
            obj["status"] = status

    def validate(self, version: Version, obj: Object, old: Object | None) -> Faults:
        """Return the errors of a new or (old) changed object, without metadata."""
        return ()

    def validate_scale(self, version: Version, obj: Object) -> Faults:
        """Return the errors of fields that the scale subresource uses, which `validate` otherwise includes."""
        return ()

    def validate_status(self, version: Version, obj: Object, old: Object) -> Faults:
        """Return the errors of a status write, without metadata."""
        return self.validate(version, obj, old)

    def prepare_finalize(self, version: Version, obj: Object, old: Object) -> None:
        """Keep fields that a write to /finalize may not change."""

    def validate_finalize(self, version: Version, obj: Object, old: Object) -> Faults:
        """Return the errors of a write to /finalize, without metadata."""
        return ()

    def drop_unknown_fields(self, version: Version, obj: Object) -> None:
        """Drop unknown fields, for an object that was validated with them."""

    def validate_other(self, version: Version, obj: Object, old: Object | None) -> Faults:
        """Return further errors of an object of another kind or version."""
        return ()

    def validate_rules(
        self,
        version: Version,
        obj: Object,
        old: Object | None,
        faults: Sequence[FieldError],
        warnings: list[str] | None = None,
        *,
        floats: bool = False,
        ratchet: bool = True,
    ) -> Faults:
        """Return the errors of rules that run after everything else.

        faults: all errors so far. floats: the body has integers as floats. ratchet: errors in unchanged parts become
        warnings.
        """
        return ()

    def load_rules(self) -> None:
        """Import modules that the rules need."""

    def compile_rules(self, kind: K) -> None:
        """Compile everything that the rules would compile at first use."""

    def allow_create_on_status(self, verb: str) -> bool:
        """Return whether a status write ("update" or "apply") creates a missing object."""
        return False

    def resource_name(self, plural: str) -> str:
        """Return the name of the resource in the error for a missing object."""
        return plural

    def show_partial(self, obj: Object) -> Object:
        """Return an object as tables and bare metadata show it."""
        return obj

    def for_subresource(self, subresource: str) -> Strategy[K]:
        """Return the strategy for writes of the object through a subresource."""
        return self

    def grace_period(self, obj: Object, requested: int | None) -> int | None:
        """Return the seconds until a deleted object is removed, None for none. requested: by the client."""
        return None

    def prepare_delete(self, obj: Object) -> None:
        """Change an object that is deleted, before its finalizers are checked."""

    def awaits_finalizers(self, obj: Object) -> bool:
        """Return whether a delete only marks the object, because finalizers hold it."""
        return bool(obj["metadata"].get("finalizers")) or self.is_finalizing(obj)

    def is_finalizing(self, obj: Object) -> bool:
        """Return whether further deletes of a marked object change nothing, because its content is still deleted."""
        return False

    def increases_generation(self, version: Version, obj: Object, old: Object) -> bool:
        """Return whether the desired state, which is all except metadata and status, differs."""
        return {**obj, **NOT_DESIRED} != {**old, **NOT_DESIRED}

    def list_warnings(self, version: Version, obj: Object, old: Object | None) -> list[str]:
        """Return warnings about an accepted write."""
        return []

    def list_status_warnings(self, obj: Object) -> list[str]:
        """Return warnings about an accepted status write."""
        return []

    def read_selectable_fields(self, version: Version, obj: Object) -> dict[str, str]:
        """Return the fields for fieldSelectors besides name and namespace, with the object's values."""
        return {}

    def list_selectable_fields(self, version: Version) -> frozenset[str]:
        """Return the names of those fields."""
        return frozenset()

    def explain_unselectable(self, name: str) -> str:
        """Return the error for a field that cannot be selected."""
        return f'{gotext.quote(name)} is not a known field selector: only "metadata.name", "metadata.namespace"'
