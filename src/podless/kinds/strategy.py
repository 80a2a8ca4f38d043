"""What a kind's objects must obey: one method for each step of a write that kinds differ in.

The write path (verbs/) is the same for all kinds and calls these; the defaults here are those of an object that has
metadata and nothing else to say. All methods work on decoded objects; `prepare` ones change them in place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

from podless.codec import gotext
from podless.kinds.version import Version
from podless.meta import names
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.structs.structs import Struct

Faults = Sequence[FieldError]


class Named(Protocol):
    """What is asked here of a kind, which knows its strategy: there is no more that a strategy has to know of it."""

    @property
    def storage_version(self) -> str:
        """The name of the version that objects are stored in."""

    def api_version(self, version: str, /) -> str:
        """The apiVersion of objects in one version."""


K = TypeVar("K", bound=Named, contravariant=True)


class Deletion(NamedTuple):
    """How objects of a kind end.

    graceful: deletes take grace periods and propagation policies; a kind without ends in stages of its own.
    notes_policy: the first delete of such a kind writes the propagation policy into a finalizer nevertheless.
    collected: the objects are garbage without their owners, and hold what they own.
    orphans: dependents stay unless the delete says otherwise; warning: what a client that says nothing is told.
    """

    graceful: bool = True
    notes_policy: bool = False
    collected: bool = True
    orphans: bool = False
    warning: str = ""


class MetadataPolicy(NamedTuple):
    """How metadata of changed objects is validated, and what of it may change.

    on_update, on_status: how often a write repeats the errors of metadata as a whole and of its immutable fields. A
    real server validates them once for all kinds, and again in the rules of most (ValidateObjectMetaUpdate).
    qualified_finalizers: finalizers need a domain, or are the server's own.
    drops_namespace: a namespace in a cluster-scoped object is dropped; else it is an error.
    status_keeps_labels, status_keeps_all: what of it a write to the status leaves alone.
    """

    on_update: tuple[int, int] = (1, 1)
    on_status: tuple[int, int] = (0, 1)
    qualified_finalizers: bool = True
    drops_namespace: bool = True
    status_keeps_labels: bool = False
    status_keeps_all: bool = False


class Reads(NamedTuple):
    """How objects of a kind are read.

    cached: a real server keeps them in a watch cache, which serves lists at revision 0 whole.
    revisioned: a list has a revision, and shows what is stored.
    by_namespace: a field selector may name metadata.namespace even if the kind is cluster-scoped.
    """

    cached: bool = True
    revisioned: bool = True
    by_namespace: bool = True


class Checking(NamedTuple):
    """What validation of a kind costs.

    preload: the rules take long to import; `Strategy.load` imports them beforehand.
    repeats: every error that a check makes is reported, so that it may stop once there are too many. Schemas try some
    values in several ways and drop errors.
    cost: how many times as long as for other kinds it takes.
    once: the change with which an update is validated once; before it, a real server validated the object as a new one,
    too (runtime/release.py).
    """

    preload: bool = False
    repeats: bool = True
    cost: int = 1
    once: str = ""


class Strategy(Generic[K]):
    """The rules of a kind of the type K.

    naming: check a name, and a generateName. allow_unconditional_update: an update may leave out the resourceVersion.
    allow_create_on_update: an update of an object that does not exist creates it. has_generation: metadata.generation
    counts changes. reset_fields: the paths that a write does not change, if these are more than the status.
    ordered: objects are stored in the field order of their struct, not with sorted keys. rearranged: they are brought
    into that order when they are stored, because the rules append fields.
    """

    naming: tuple[Callable[[str], list[str]], Callable[[str], list[str]]] = names.SUBDOMAINS
    allow_unconditional_update = True
    allow_create_on_update = False
    has_generation = False
    reset_fields: tuple[tuple[str, ...], ...] = ()
    ordered = True
    rearranged = False
    metadata = MetadataPolicy(on_update=(0, 1), qualified_finalizers=False)
    deletion = Deletion()
    reads = Reads()
    checking = Checking()

    def name_errors(self, name: str, prefix: bool) -> list[str]:
        """What is wrong with a name, or with a generateName where prefix is true."""
        return self.naming[prefix](name)

    def decode(
        self,
        kind: K,
        version: Version,
        obj: Object,
        unknown: list[str],
        known: Object | None = None,
        *,
        fill: bool = True,
    ) -> Object:
        """The object with only what it may have, and its defaults; unknown collects the paths of what was dropped.

        fill: defaults are filled in.
        known: a metadata that comes from the store; an object that still has this very one need not have it read.
        Raises structs.DecodeError where a value has the wrong type.
        """
        raise NotImplementedError

    def earlier_struct(self, api_version: str) -> Struct | None:
        """Return the fields of a version that is read and not served."""
        return None

    def admitted(self, kind: K, version: Version, obj: Object, unknown: list[str]) -> Object:
        """As `decode`, for an object that admission has changed."""
        return self.decode(kind, version, obj, unknown)

    def written(self, obj: Object, raw: bytes) -> None:
        """Note what the bytes of a changed object in JSON say beyond the object."""

    def default(self, version: Version, obj: Object) -> None:
        """Fill in what the client left out."""

    def fill(self, kind: K, version: Version, obj: Object) -> None:
        """Fill in all that the client left out: what the tables of the kind tell, too."""
        self.default(version, obj)

    def read(self, kind: K, version: Version, obj: Object) -> Object:
        """A stored object as one version shows it; may change it in place."""
        obj["apiVersion"] = kind.api_version(version.name)
        return obj

    def store(self, kind: K, obj: Object) -> Object:
        """An object of any version as it is stored; may change it in place."""
        obj["apiVersion"] = kind.api_version(kind.storage_version)
        return obj

    def unstored(self, obj: Object) -> Object:
        """A built-in object as it would be read after it had been stored; may change it in place."""
        return obj

    def settled(self, kind: K) -> bool:
        """Whether what is stored under the kind as it stands is what its storage version shows."""
        return True

    def convert(self, kind: K, version: Version, obj: Object) -> Object:
        """An object of any version as another version says it; the given one is left as it is."""
        return {**obj, "apiVersion": kind.api_version(version.name)}

    def early_warnings(self, obj: Object) -> list[str]:
        """What is told of a new object before it is prepared, whether or not it is refused then."""
        return []

    def prepare_create(self, version: Version, obj: Object) -> None:
        """Reset what a client may not set on a new object."""

    def prepare_update(self, version: Version, obj: Object, old: Object) -> None:
        """Keep what a client may not change."""

    def prepare_status(self, version: Version, obj: Object, old: Object) -> None:
        """Keep everything but the status, and metadata as far as a status write may not change it."""
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

    def validate_create(self, kind: K, version: Version, obj: Object) -> Faults:
        """What is wrong with a new object beside its metadata."""
        return ()

    def validate_update(self, kind: K, version: Version, obj: Object, old: Object, warnings: list[str]) -> Faults:
        """What is wrong with a changed object beside its metadata; warnings gets what is wrong but was so before."""
        return ()

    def validate_status(self, kind: K, version: Version, obj: Object, old: Object, warnings: list[str]) -> Faults:
        """What is wrong with a status write beside the metadata; warnings as for an update."""
        return self.validate_update(kind, version, obj, old, warnings)

    def prepare_finalize(self, version: Version, obj: Object, old: Object) -> None:
        """What a write to /finalize leaves alone."""

    def validate_finalize(self, kind: K, version: Version, obj: Object, old: Object, warnings: list[str]) -> Faults:
        """What is wrong with a write to /finalize beside the metadata."""
        return ()

    def trim(self, version: Version, obj: Object) -> None:
        """Drop what the kind does not know from an object that was judged as it came."""

    def validate_other(self, version: Version, obj: Object, old: Object | None) -> Faults:
        """What is said of an object of another kind or version, beside that it is one."""
        return ()

    def validate_rules(
        self,
        version: Version,
        obj: Object,
        old: Object | None,
        found: Faults,
        warnings: list[str] | None = None,
        *,
        floats: bool = False,
        ratchet: bool = True,
    ) -> Faults:
        """What is said once all else has been looked at.

        found: what is wrong, in the metadata too. floats: whether integers were sent as floats, which they are here.
        ratchet: whether what an unchanged part broke before is only warned of.
        """
        return ()

    def load(self) -> None:
        """Import what the rules need."""

    def compile(self, kind: K) -> None:
        """Make all that the rules would make when they first need it."""

    def allow_create_on_status(self, verb: str) -> bool:
        """Whether a status write, "update" or "apply", of an object that does not exist creates it."""
        return False

    def resource_name(self, plural: str) -> str:
        """Return what the error for a missing object calls the resource."""
        return plural

    def show_partial(self, obj: Object) -> Object:
        """Return an object as tables and bare metadata show it."""
        return obj

    def below(self, subresource: str) -> Strategy[K]:
        """The rules for what is written to an endpoint below the object that takes the object itself."""
        return self

    def grace_period(self, obj: Object, asked: int | None) -> int | None:
        """How many seconds an object stays after its delete; None where it has no such time. asked: by the client."""
        return None

    def prepare_delete(self, obj: Object) -> None:
        """What a delete does to an object before it is looked at whether it has to wait."""

    def waits(self, obj: Object) -> bool:
        """Whether a delete only marks the object, because someone holds it."""
        return bool(obj["metadata"].get("finalizers"))

    def changed(self, version: Version, obj: Object, old: Object) -> bool:
        """Whether what is wanted of the object differs: such a change counts as a new generation."""
        return False

    def warnings(self, version: Version, obj: Object, old: Object | None) -> list[str]:
        """What a client should know about a write that is accepted."""
        return []

    def fields(self, version: Version, obj: Object) -> dict[str, str]:
        """The fields beside name and namespace that a fieldSelector may use, with the object's values."""
        return {}

    def selectable(self, version: Version) -> frozenset[str]:
        """The names of those fields."""
        return frozenset()

    def unselectable(self, name: str) -> str:
        """What is said of a field that may not be selected by."""
        return f'{gotext.quote(name)} is not a known field selector: only "metadata.name", "metadata.namespace"'
