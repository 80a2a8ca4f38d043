"""Carries out runs in a laboratory, with the same controller process if possible."""

from __future__ import annotations

from podless.explore.findings import Run
from podless.explore.gate import Watched
from podless.explore.laboratory import Laboratory
from podless.explore.schedule import Schedule
from podless.explore.trial import Trial

_FAILURES = 3  # failed resets in a row, after which each run starts the controller again


class Runner:
    """The runs in a laboratory.

    Between two runs the server returns to the state in which the controller rested after its start. The controller sees
    that as any other change. If it rests then and has changed nothing, the next run continues with it. A controller
    that waits before it opens a cut watch again is restarted, because it would wait longer after each run.
    """

    def __init__(self, laboratory: Laboratory) -> None:
        self._laboratory = laboratory
        self._last_trial: Trial | None = None
        self._failures = 0

    async def carry_out(
        self, schedule: Schedule, expected: frozenset[Watched] | None = None, *, fresh: bool = False
    ) -> Run:
        """Carry out the scenario once under a schedule. Raises OSError if the command cannot be run.

        expected: the watches that the controller opens when it starts, None if unknown. fresh: start the controller for
        this run.
        """
        reused = None if fresh else await self._rewind_last()
        if reused is None:
            await self.end_controller()
            await self._laboratory.reset_state()
        trial = Trial(self._laboratory, schedule, expected, reused)
        self._laboratory.admit_run(trial.control)
        self._last_trial = trial
        try:
            return await trial.carry_out()
        except BaseException:
            await self.end_controller()
            raise

    async def _rewind_last(self) -> Trial | None:
        """Return the previous run, with its controller at rest in the state after its start; None if that fails."""
        if self._last_trial is None or self._last_trial.is_worn or self._failures >= _FAILURES:
            return None
        is_rewound = await self._last_trial.rewind_state()
        self._failures = 0 if is_rewound else self._failures + 1
        return self._last_trial if is_rewound else None

    async def end_controller(self) -> None:
        """Kill the controller. The next run starts it again."""
        trial, self._last_trial = self._last_trial, None
        self._laboratory.admit_run(None)
        if trial is not None:
            await trial.kill_controller()
