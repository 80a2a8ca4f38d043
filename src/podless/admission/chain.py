"""The chain of admission: one list of plugins, gone through to mutate, to allocate and to validate."""

from __future__ import annotations

from collections.abc import Sequence

from podless.admission.attributes import AdmissionAttributes
from podless.admission.plugin import Step
from podless.kinds.kind import Kind

_KNOWN_MOST = 1000  # sorts of writes of which the steps that allocate are remembered


class Admission:
    """All steps, in order. steps: may be changed at any time.

    `mutating`, `allocating` and `validating` return the steps that concern a write. A write that no step concerns
    needs nothing prepared for it.
    """

    def __init__(self, steps: Sequence[Step] = ()) -> None:
        self.steps = list(steps)
        self._known: list[Step] = []
        # by whether the kind is a custom one
        self._mutating: dict[bool, list[Step]] = {}
        self._allocating: dict[bool, list[Step]] = {}
        self._validating: dict[bool, list[Step]] = {}
        # by operation, prefix of the kind and subresource
        self._allocated: dict[tuple[str, str, str], list[Step]] = {}

    async def start(self) -> None:
        """Have all steps get ready."""
        for step in self.steps:
            await step.start()

    def mutating(self, operation: str, kind: Kind, subresource: str, namespace: str) -> list[Step]:
        """Return the steps that mutate such a write. namespace: of the path, "" for none."""
        if self._known != self.steps:
            self._sort()
        asked = self._mutating[kind.custom]
        return [step for step in asked if step.mutates(operation, kind, subresource, namespace)]

    def allocating(self, operation: str, kind: Kind, subresource: str) -> list[Step]:
        """Return the steps that complete such a write right before the object is checked."""
        if self._known != self.steps:
            self._sort()
        asked = self._allocating[kind.custom]
        if not asked:  # as for custom kinds
            return asked
        about = operation, kind.prefix, subresource
        known = self._allocated.get(about)
        if known is None:
            if len(self._allocated) >= _KNOWN_MOST:
                self._allocated.clear()
            known = [step for step in asked if step.allocates(operation, kind, subresource)]
            self._allocated[about] = known
        return known

    def validating(self, operation: str, kind: Kind, subresource: str) -> list[Step]:
        """Return the steps that look at such a write once the object has been found to be valid."""
        if self._known != self.steps:
            self._sort()
        return [step for step in self._validating[kind.custom] if step.validates(operation, kind, subresource)]

    def _sort(self) -> None:
        """Most steps have one phase only, and need not be asked about the others."""
        self._known = list(self.steps)
        self._allocated.clear()
        for custom in (False, True):
            asked = [step for step in self.steps if not (custom and step.builtin)]
            self._mutating[custom] = [step for step in asked if type(step).mutates is not Step.mutates]
            self._allocating[custom] = [step for step in asked if type(step).allocates is not Step.allocates]
            self._validating[custom] = [step for step in asked if type(step).validates is not Step.validates]


async def mutate(steps: Sequence[Step], attr: AdmissionAttributes) -> None:
    """Have all steps change the object; once more where one of them asks for it. Raises what refuses the write."""
    for step in steps:
        await step.mutate(attr)
    if attr.reinvoke:
        attr.again = True
        for step in steps:
            await step.mutate(attr)


async def allocate(steps: Sequence[Step], attr: AdmissionAttributes) -> None:
    """Have all steps complete the object. Raises what refuses the write."""
    for step in steps:
        await step.allocate(attr)


async def validate(steps: Sequence[Step], attr: AdmissionAttributes) -> None:
    """Have all steps look at the object. Raises what refuses the write."""
    for step in steps:
        await step.validate(attr)
