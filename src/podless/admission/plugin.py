"""The interface of admission plugins."""

from __future__ import annotations

from podless.admission.attributes import AdmissionAttributes
from podless.kinds.kind import Kind


class Plugin:
    """One rule, or source of rules, that writes pass: `admission.Interface` of kube-apiserver.

    A write goes through all plugins three times, one phase after the other:

    - `mutate`: change the object as the client wants it, defaults filled in, not checked yet.
    - `allocate`: give the object what only the server can give, and note what the user has no right to write
      (`attr.refused`), right before the object is checked. `attr.obj` is the whole object here, also for its Scale.
      Deletes have no such phase.
    - `validate`: accept or refuse the object once all rules of its kind are obeyed.

    Each phase has a method that says whether it concerns such writes. `mutates` and `validates` are called for every
    write and must cost next to nothing; `allocates` is called once for each sort of write. `mutate` may replace the
    object, `allocate` changes it in place, `validate` leaves it alone. All three raise an APIError to reject the write.

    builtin: whether the plugin concerns built-in kinds only; it is not asked about custom ones.
    """

    builtin = False

    async def start(self) -> None:
        """Get ready, before the first write."""

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
        """Reject the write, or let it pass."""
