"""What a kind's objects must obey: one method for each step of a write that kinds differ in.

The write path (verbs/) is the same for all kinds and calls these; the defaults here are those of an object that has
metadata and nothing else to say. All methods work on decoded objects; `prepare` ones change them in place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, Protocol, TypeVar

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


class Strategy(Generic[K]):
    """The rules of a kind of the type K.

    naming: what is wrong with a name, and with a generateName. generation: whether metadata.generation counts changes
    of what is wanted. unconditional: whether an update may leave out the resourceVersion. ordered: whether objects are
    stored in the field order of their struct (built-in kinds) rather than with sorted keys. rearranged: whether they
    are brought into that order when they are stored, for the rules add fields at the end. grace: whether deletes go the
    common way, with grace periods and propagation policies; a kind that ends in stages of its own has its own way.
    holds_policy: whether the first delete of such a kind notes the propagation policy in a finalizer nevertheless.
    outer: annotations that only the whole object shows, for a real server keeps them in a field. placed: whether a
    namespace in a cluster-scoped object is only dropped; else it is an error. collected: whether the objects are
    garbage without their owners, and hold what they own. created_by_update: whether an update of an object that is not
    there makes it. created_by_status: which of update and apply do so at the endpoint of the status, where a real
    server forgot to refuse it. cached: whether a real server keeps the objects in a cache, from which lists at the
    revision 0 come whole. revisioned: whether a list has a revision, and is of what is stored. rechecks: how often
    metadata is judged again when an object changes, as a whole and as to what may not change: a real server does so for
    all kinds and then in the rules of some; status_rechecks: the same for the status. anywhere: whether
    metadata.namespace may be selected by though objects are in none. orphans: whether what an object owns stays where a
    delete does not say otherwise; orphan_warning: what the client is told then. labels_kept: whether a status write
    leaves the labels alone; metadata_kept: all of metadata, as that of a custom object does. resets: the paths that a
    write to the object does not change, where these are more than the status. qualified: whether finalizers have to
    have a domain, or be one of the server's own. missing: what an object that is not there is called in place of the
    plural, if anything. literal: whether it counts how a changed object is written. earlier: the fields in versions
    that are read and not served, by apiVersion. loads: whether the rules take a while to be imported; `load` does that
    beforehand. tells_all: whether each error that a check makes is told, so that it can end where there are more than
    are told; the checks of schemas try some values in several ways. strain: how many times as long as those of other
    kinds the checks of an object take.
    """

    naming: tuple[Callable[[str], list[str]], Callable[[str], list[str]]] = names.SUBDOMAINS
    generation = False
    unconditional = True
    ordered = True
    grace = True
    holds_policy = False
    outer: tuple[str, ...] = ()
    placed = True
    collected = True
    earlier: Mapping[str, Struct] = {}
    loads = False
    created_by_update = False
    created_by_status: tuple[str, ...] = ()
    cached = True
    revisioned = True
    rechecks = (0, 1)
    status_rechecks = (0, 1)
    rearranged = False
    anywhere = True
    orphans = False
    orphan_warning = ""
    labels_kept = False
    metadata_kept = False
    resets: tuple[tuple[str, ...], ...] = ()
    qualified = False
    missing = ""
    literal = False
    tells_all = True
    strain = 1

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
