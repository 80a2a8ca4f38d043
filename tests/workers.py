"""Runs the tests in several processes, each of which begins as a copy of the one that has read all tests.

Reading them takes 7 s of processor time, and 16 s if nothing is compiled. Workers of pytest-xdist would all do that.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import traceback
import warnings
from multiprocessing.connection import Connection, wait
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

_LONG = 0.5  # seconds of a fixture that --durations is to show
NO_TEST = -1
# The shared numbers of each worker: the bounds of its part that is not begun, the test that it runs, and its next one.
_FIRST, _LAST, _RUNNING, _NEXT = range(4)
_FIELDS = 4

_Told = tuple[int, list[dict[str, Any]], list[tuple[Any, ...]]]  # a test's index, its reports, the warnings


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--workers", type=int, default=0, metavar="N", help="run the tests in N processes (default: this one)"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run all tests in workers if there are some; pytest's own loop does the rest."""
    count = min(session.config.option.workers, len(session.items))
    if count < 2 or session.testsfailed or session.config.option.collectonly:
        return None
    _Workers(session, count).run()
    return True


class Parts:
    """The tests' indexes, in a part for each worker. One that has ended its part takes half of another's."""

    def __init__(self, count: int, tests: int) -> None:
        self._shared = multiprocessing.get_context("fork").Array("i", count * _FIELDS)
        self._starts = range(0, count * _FIELDS, _FIELDS)
        for worker, start in enumerate(self._starts):
            part = tests * worker // count, tests * (worker + 1) // count
            self._shared[start : start + _FIELDS] = [*part, NO_TEST, NO_TEST]

    def advance(self, worker: int) -> tuple[int, int]:
        """Return the test that a worker is to run, and the one after it, which fixtures stay for; NO_TEST: no more."""
        with self._shared.get_lock():
            start = self._starts[worker]
            if self._shared[start + _NEXT] == NO_TEST:
                self._shared[start + _NEXT] = self._take(start)
            self._shared[start + _RUNNING] = self._shared[start + _NEXT]
            self._shared[start + _NEXT] = self._take(start)
            return self._shared[start + _RUNNING], self._shared[start + _NEXT]

    def _take(self, start: int) -> int:
        shared = self._shared
        if shared[start + _FIRST] == shared[start + _LAST]:
            most = max(self._starts, key=lambda other: shared[other + _LAST] - shared[other + _FIRST])
            first, last = shared[most + _FIRST], shared[most + _LAST]
            if first == last:
                return NO_TEST
            shared[most + _LAST] = shared[start + _FIRST] = (first + last) // 2
            shared[start + _LAST] = last
        taken: int = shared[start + _FIRST]
        shared[start + _FIRST] += 1
        return taken

    def running(self, worker: int) -> int:
        """Return the test that a worker ran last; NO_TEST if it ran none."""
        index: int = self._shared[self._starts[worker] + _RUNNING]
        return index

    def stop(self) -> None:
        """Leave nothing to begin."""
        with self._shared.get_lock():
            for start in self._starts:
                self._shared[start + _FIRST] = self._shared[start + _LAST]
                self._shared[start + _NEXT] = NO_TEST


class _Workers:
    """The processes, and what they tell."""

    def __init__(self, session: pytest.Session, count: int) -> None:
        self._session = session
        self._parts = Parts(count, len(session.items))
        self._processes: dict[Connection, tuple[int, int]] = {}  # the number of each, and its process id
        session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]  # one for all
        for number in range(count):
            self._start(number)

    def _start(self, number: int) -> None:
        reading, writing = multiprocessing.get_context("fork").Pipe(duplex=False)
        sys.stdout.flush()  # else the copy has the text as well
        process = os.fork()
        if not process:
            try:
                _Worker(self._session, number, writing).run(self._parts)
            except BaseException:  # nothing of pytest's own end happens here
                traceback.print_exc(file=sys.__stderr__)
                os._exit(1)
            os._exit(0)
        writing.close()
        self._processes[reading] = number, process

    def run(self) -> None:
        """Report what the workers tell, until all tests have run or pytest wants no more."""
        session = self._session
        try:
            while self._processes:
                for pipe in wait(list(self._processes)):
                    assert isinstance(pipe, Connection)
                    try:
                        self._report(*pickle.loads(pipe.recv_bytes()))
                    except EOFError:
                        self._end(pipe)
                    if session.shouldfail or session.shouldstop:
                        self._parts.stop()
        except BaseException:
            self._parts.stop()
            for _, process in self._processes.values():
                os.kill(process, signal.SIGINT)
            raise
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        if session.shouldstop:
            raise session.Interrupted(session.shouldstop)

    def _report(self, index: int, reports: list[dict[str, Any]], warned: list[tuple[Any, ...]]) -> None:
        hook, item = self._session.config.hook, self._session.items[index]
        hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for data in reports:
            report = hook.pytest_report_from_serializable(config=self._session.config, data=data)
            hook.pytest_runtest_logreport(report=report)
        hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        for text, category, filename, line, nodeid in warned:
            message = warnings.WarningMessage(text, type(category, (Warning,), {}), filename, line)
            told = {"warning_message": message, "when": "runtest", "nodeid": nodeid, "location": None}
            hook.pytest_warning_recorded.call_historic(kwargs=told)

    def _end(self, pipe: Connection) -> None:
        """Begin another worker in place of one that ended within a test."""
        number, process = self._processes.pop(pipe)
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        index = self._parts.running(number)
        if code and index != NO_TEST:
            item = self._session.items[index]
            text = f"{item.nodeid}: the process that ran it ended with {code}"
            report = pytest.TestReport(item.nodeid, item.location, {}, "failed", text, "call")
            told = self._session.config.hook.pytest_report_to_serializable(config=self._session.config, report=report)
            self._report(index, [told], [])
            self._start(number)


class _Worker:
    """A process that runs tests."""

    def __init__(self, session: pytest.Session, number: int, pipe: Connection) -> None:
        self._session = session
        self._number = number
        self._pipe = pipe
        self._reports: list[pytest.TestReport] = []
        self._warned: list[tuple[Any, ...]] = []

    def run(self, parts: Parts) -> None:
        """Run tests until none is left. Their fixtures end, whatever happens."""
        config = self._session.config
        capture: Any = config.pluginmanager.get_plugin("capturemanager")
        capture.stop_global_capturing()  # into files of its own: a copied descriptor has the position of the first one
        capture.start_global_capturing()
        capture.suspend()
        folders = config._tmp_path_factory  # type: ignore[attr-defined]
        folders._basetemp = folders.mktemp(f"worker{self._number}-")
        config.pluginmanager.register(self)
        items = self._session.items
        try:
            index, following = parts.advance(self._number)
            while index != NO_TEST:
                after = None if following == NO_TEST else items[following]
                config.hook.pytest_runtest_protocol(item=items[index], nextitem=after)
                reports = [
                    config.hook.pytest_report_to_serializable(config=config, report=report) for report in self._reports
                ]
                told: _Told = index, reports, self._warned
                self._pipe.send_bytes(pickle.dumps(told))
                self._warned = []
                index, following = parts.advance(self._number)
        finally:
            self._session._setupstate.teardown_exact(None)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        """Run a test, and keep its reports but those of fixtures that were quick and right."""
        self._reports = [
            report
            for report in runtestprotocol(item, log=False, nextitem=nextitem)
            if report.when == "call" or not report.passed or report.duration > _LONG
        ]
        return True

    def pytest_warning_recorded(self, warning_message: warnings.WarningMessage, nodeid: str) -> None:
        category = warning_message.category.__name__
        told = str(warning_message.message), category, warning_message.filename, warning_message.lineno, nodeid
        self._warned.append(told)
