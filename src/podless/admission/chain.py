"""The order in which admission goes: one list of steps, gone through twice, to mutate and to validate."""

from __future__ import annotations

from collections.abc import Sequence

from podless.admission.attributes import AdmissionAttributes
from podless.kinds.kind import Kind


class Step:
    """One rule, or source of rules, that writes have to pass.

    `mutates` and `validates` say whether it has anything to do with such writes; they are asked at every write and
    must cost next to nothing. The object must be changed in `mutate` only. Both raise an APIError to refuse the write.

    builtin: whether it has to do with kinds that are built in only; it is not asked about others.
    """

    builtin = False

    async def start(self) -> None:
        """Get ready, before the first write."""

    def mutates(self, operation: str, kind: Kind, subresource: str, namespace: str) -> bool:
        """Whether `mutate` is to be called for such writes."""
        return False

    async def mutate(self, attr: AdmissionAttributes) -> None:
        """Change the object, or refuse the write."""

    def validates(self, operation: str, kind: Kind, subresource: str) -> bool:
        """Whether `validate` is to be called for such writes."""
        return False

    async def validate(self, attr: AdmissionAttributes) -> None:
        """Refuse the write, or let it pass."""


class Admission:
    """All steps, in the order of kube-apiserver's plugins.

    mutating and validating give those that concern a write; where there are none nothing needs to be prepared.
    """

    def __init__(self, steps: Sequence[Step] = ()) -> None:
        self.steps = list(steps)
        self._known: list[Step] = []
        # by whether the kind is a custom one
        self._mutating: dict[bool, list[Step]] = {}
        self._validating: dict[bool, list[Step]] = {}

    async def start(self) -> None:
        """Have all steps get ready."""
        for step in self.steps:
            await step.start()

    def mutating(self, operation: str, kind: Kind, subresource: str, namespace: str) -> list[Step]:
        """The steps to be gone through before the object is checked. namespace: of the path, "" for none."""
        if self._known != self.steps:
            self._sort()
        asked = self._mutating[kind.custom]
        return [step for step in asked if step.mutates(operation, kind, subresource, namespace)]

    def validating(self, operation: str, kind: Kind, subresource: str) -> list[Step]:
        """The steps to be gone through when the object has been found to be valid."""
        if self._known != self.steps:
            self._sort()
        return [step for step in self._validating[kind.custom] if step.validates(operation, kind, subresource)]

    def _sort(self) -> None:
        """Most steps do one of both only, and need not be asked about the other."""
        self._known = list(self.steps)
        for custom in (False, True):
            asked = [step for step in self.steps if not (custom and step.builtin)]
            self._mutating[custom] = [step for step in asked if type(step).mutates is not Step.mutates]
            self._validating[custom] = [step for step in asked if type(step).validates is not Step.validates]


async def mutate(steps: Sequence[Step], attr: AdmissionAttributes) -> None:
    """Have all steps change the object; once more where one of them asks for it. Raises what refuses the write."""
    for step in steps:
        await step.mutate(attr)
    if attr.reinvoke:
        attr.again = True
        for step in steps:
            await step.mutate(attr)


async def validate(steps: Sequence[Step], attr: AdmissionAttributes) -> None:
    """Have all steps look at the object. Raises what refuses the write."""
    for step in steps:
        await step.validate(attr)
