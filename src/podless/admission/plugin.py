"""The interface of admission plugins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from podless.admission.attributes import AdmissionAttributes
from podless.auth.authorizer import Authorizer
from podless.kinds.kind import Kind
from podless.kinds.state import State


class ConfigurationSource(Protocol):
    """Something that configures a plugin."""

    @property
    def changed(self) -> int:
        """Another number after each change."""


class Plugin:
    """One admission plugin: `admission.Interface` of kube-apiserver.

    A write passes through all plugins three times, one phase after the other:

    - `mutate`: change the object that the client sent. It has its defaults, and is not validated yet.
    - `allocate`: set fields that only the server can set, and collect fields that the user may not write
      (`attr.refuse_fields`). It runs right before validation. `attr.obj` is the whole object, also for a Scale.
      Deletes have no such phase.
    - `validate`: accept or reject the object, after the validation of its kind.

    Each phase has a method that says whether it applies to such writes. `mutates` and `validates` are called for every
    write, so they must be very cheap; the result of `allocates` is cached. `mutate` may replace the object, `allocate`
    changes it in place, `validate` must not change it. All three raise an APIError to reject the write. To test for a
    built-in kind, ask `kind.is_same_as(PODS)`: each release has its own `Kind` of a resource.

    state, authorizer: of the server. custom: the plugin is called for custom kinds, too. sources: what `is_active`
    depends on.
    """

    custom = False
    sources: Sequence[ConfigurationSource] = ()

    def __init__(self, state: State, authorizer: Authorizer) -> None:
        self._state = state
        self._authorizer = authorizer

    @property
    def is_active(self) -> bool:
        """Whether the plugin can apply to any write. It is asked again after a change of `sources`."""
        return True

    async def start(self) -> None:
        """Prepare the plugin, before the first write."""

    def mutates(self, operation: str, kind: Kind, subresource: str, namespace: str) -> bool:
        """Return whether `mutate` must be called for such writes."""
        return False

    async def mutate(self, attr: AdmissionAttributes) -> None:
        """Change the object, or reject the write."""

    def allocates(self, operation: str, kind: Kind, subresource: str) -> bool:
        """Return whether `allocate` must be called for such writes; the answer is cached."""
        return False

    async def allocate(self, attr: AdmissionAttributes) -> None:
        """Complete the object, and add to `attr.along` what must be committed with it."""

    def validates(self, operation: str, kind: Kind, subresource: str) -> bool:
        """Return whether `validate` must be called for such writes."""
        return False

    async def validate(self, attr: AdmissionAttributes) -> None:
        """Reject the write by raising an APIError, or return."""
