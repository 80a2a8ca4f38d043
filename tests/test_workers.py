"""Tests in several processes: each runs once, and is told as one process would tell it."""

import subprocess
import sys
from pathlib import Path

from tests.workers import NO_TEST, Parts

_TESTS = """
import os, pathlib, pytest, warnings

@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kept")
    yield folder
    pathlib.Path(os.environ["ENDED"], str(os.getpid())).touch()

@pytest.mark.parametrize("number", range(8))
def test_passes(number, kept, tmp_path):
    (tmp_path / "file").touch(exist_ok=False)

def test_fails():
    print("said before")
    assert 1 == 2

def test_ends_its_process():
    os._exit(3)

def test_warns():
    warnings.warn("mind this")

@pytest.fixture
def broken():
    raise ValueError("at the start")

@pytest.fixture
def breaking():
    yield
    raise ValueError("at the end")

def test_never_begins(broken):
    pass

def test_is_too_late(breaking):
    pass

@pytest.mark.skip(reason="not today")
def test_is_skipped():
    pass
"""


def test_each_test_runs_once() -> None:
    parts = Parts(3, 50)
    ended: list[int] = []
    going = {0, 1, 2}
    while going:
        for worker in [0, 0, 0, 1, 2, 2]:  # one is faster than another
            index, following = parts.advance(worker)
            if index == NO_TEST:
                going.discard(worker)
            else:
                ended.append(index)
                assert parts.running(worker) == index != following
    assert sorted(ended) == list(range(50))


def test_the_test_after_is_what_was_told() -> None:
    parts = Parts(2, 9)
    index, following = parts.advance(1)
    while index != NO_TEST:
        parts.advance(0)  # takes a part of what is left
        expected = following
        index, following = parts.advance(1)
        assert index == expected


def test_nothing_begins_after_the_stop() -> None:
    parts = Parts(2, 50)
    parts.advance(0)
    parts.stop()
    assert parts.advance(0) == parts.advance(1) == (NO_TEST, NO_TEST)


def _run(folder: Path, *options: str) -> tuple[int, str, int]:
    """Run the tests above in two processes. Return the code, the output and how many fixtures ended."""
    (folder / "test_some.py").write_text(_TESTS)
    (folder / "ended").mkdir()
    given = f"-m pytest -p tests.workers --workers 2 -rA -c /dev/null --rootdir {folder} -p no:cacheprovider {folder}"
    places = {"ENDED": str(folder / "ended"), "PYTHONPATH": str(Path(__file__).parent.parent)}
    done = subprocess.run(
        [sys.executable, *given.split(), "--basetemp", str(folder / "temporary"), *options],
        env=places,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=100,
    )
    return done.returncode, done.stdout, len(list((folder / "ended").iterdir()))


def test_results_are_those_of_one_process(tmp_path: Path) -> None:
    code, said, ended = _run(tmp_path)
    assert code == 1, said
    assert "2 failed, 10 passed, 1 skipped, 1 warning, 2 errors" in said
    for text in ("assert 1 == 2", "ValueError: at the start", "ValueError: at the end", "not today"):
        assert text in said
    assert said.count("said before") == 2  # the line, and what it printed
    assert "test_some.py::test_ends_its_process: the process that ran it ended with 3" in said
    assert "UserWarning: mind this" in said
    assert ended in (1, 2)  # in each process that used it


def test_no_test_begins_after_the_first_failure_if_that_is_asked_for(tmp_path: Path) -> None:
    code, said, ended = _run(tmp_path, "-x", "-k", "fails or passes")
    assert code == 1, said
    assert "stopping after 1 failures" in said
    assert ended
