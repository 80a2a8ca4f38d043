"""Tracks which webhooks and policies to call again in the second round of mutation."""

from __future__ import annotations

from collections.abc import Hashable

from podless.admission.attributes import AdmissionAttributes
from podless.kinds import view
from podless.runtime.jsonobject import Object


class Reinvocation:
    """The calls of one plugin for a write. The attributes keep it between the rounds."""

    def __init__(self) -> None:
        self._earlier: set[Hashable] = set()
        self._requested: set[Hashable] = set()
        self._last: Object | None = None

    @classmethod
    def record_of(cls, attr: AdmissionAttributes, step: str) -> Reinvocation:
        """Return the record of a plugin for this round."""
        records = attr.reinvocations
        if records is None:
            records = attr.reinvocations = {}
        record: Reinvocation | None = records.get(step)
        if record is None:
            record = records[step] = cls()
        if attr.run_again and record._last != attr.obj:
            record._require_earlier()  # another plugin has changed the object since
        return record

    def skips_call(self, attr: AdmissionAttributes, hook: Hashable) -> bool:
        """Return whether to skip this call: in the second round, if the object has not changed since the first."""
        return attr.run_again and hook not in self._requested

    def note_change(self, attr: AdmissionAttributes) -> None:
        """Note that the object has changed, so that earlier webhooks or policies may be called again."""
        self._require_earlier()
        attr.reinvoke = True

    def request_call(self, hook: Hashable) -> None:
        """Note that this webhook or policy wants to be called again if the object changes."""
        self._earlier.add(hook)

    def end_round(self, attr: AdmissionAttributes) -> None:
        """End the plugin's round."""
        self._last = view.copy_object(attr.obj) if self._earlier and attr.obj is not None else None

    def _require_earlier(self) -> None:
        self._requested |= self._earlier
        self._earlier = set()
