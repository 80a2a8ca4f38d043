"""Hooks that loop, flood, die and leak: the server answers all others meanwhile, and tells nobody their secrets."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from podless import Server, StartError, hooks
from podless.auth.user import User
from podless.hooks.processes import CAN_KEEP
from podless.remote.cluster import Refused
from podless.runtime.jsonobject import Object
from tests.conftest import Client

pytestmark = pytest.mark.slow

APP = """
    import os, stat, struct, sys, threading
    from podless import hooks

    # the socket to the server
    channel = max(fd for fd in range(3, 64) if os.path.exists(f"/dev/fd/{fd}") and stat.S_ISSOCK(os.fstat(fd).st_mode))

    @hooks.validate("configmaps", timeout=1, object_selector={"matchLabels": {"loops": "yes"}})
    def loop(obj):
        while obj["data"]["do"] == "loop": pass
        list(zip(iter(int, 1)))

    @hooks.validate("configmaps", timeout=30, object_selector={"matchLabels": {"loops": "no"}})
    def check(obj):
        match (obj.get("data") or {}).get("do"):
            case "exit":
                os._exit(3)
            case "sys.exit":
                sys.exit(3)
            case "raise":
                raise RuntimeError("hunter2")
            case "recurse":
                check(obj)
            case "no-stderr":
                sys.stderr.close()
                raise LookupError

    def write_frames():
        while True:
            try:
                os.write(channel, struct.pack("!IQB", 1, 10**9, 0) + b"x")
            except OSError:
                pass

    def write_garbage():
        for descriptor in range(3, 64):
            try:
                os.write(descriptor, bytes([255]) * 64)
            except OSError:
                pass

    @hooks.mutate("podtemplates", operations=["CREATE"], timeout=3)
    def change(obj, request):
        labels = obj["metadata"]["labels"]
        match labels["do"]:
            case "generator":
                return (one for one in [obj])
            case "text":
                return "text"
            case "itself":
                labels["x"] = labels
            case "deep":
                for _ in range(100_000):
                    labels["x"] = {}
                    labels = labels["x"]
            case "bytes":
                labels["x"] = b"x"
            case "bytes-key":
                labels[b"x"] = "x"
            case "int-key":
                labels[1] = "x"
            case "nan":
                labels["x"] = float("nan")
            case "huge":
                labels["x"] = 10**400
            case "kind":
                obj["kind"] = 5
            case "warnings":
                request.warnings = 5
            case "warning":
                request.warnings.append(5)
            case "annotation":
                request.annotations["x"] = {}
            case "long":
                request.warn("x" * (10 << 20))
            case "code":
                raise hooks.Denied("x", code="x")
            case "details":
                raise hooks.Denied("x", details=[1])
            case "no-text":
                raise type("NoText", (Exception,), {"__str__": lambda self: 1 / 0})
            case "builtins":
                import builtins
                builtins.dict = builtins.isinstance = None
            case "garbage":
                write_garbage()
            case "fork":
                os.fork()
            case "fork-garbage":
                if not os.fork():
                    write_garbage()
                    os._exit(0)
                os.wait()
            case "shell":
                os.system("for fd in 3 4 5 6 7 8 9; do eval 'echo garbage >&$fd'; done 2>/dev/null")
            case "frames":
                threading.Thread(target=write_frames).start()
            case "close":
                os.closerange(3, 64)
            case "signal":
                import signal
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                signal.alarm(1)
                signal.pause()
            case "threads":
                for _ in range(50):
                    threading.Thread(target=threading.Event().wait).start()
            case "exit-thread":
                threading.Thread(target=sys.exit).start()
            case "fork-bomb":
                for _ in range(5):
                    os.fork()
                while os.getpid():
                    pass

    @hooks.mutate("secrets", timeout=1)
    def flood(obj):
        obj["metadata"]["annotations"] = {"x": "y" * (100 << 20)}

    @hooks.validate("limitranges", timeout=1)
    async def block():
        import time
        time.sleep(600)

    @hooks.validate("services", timeout=1)
    async def wait():
        import asyncio
        while True:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                pass
"""
# the line of `raise`, which administrators are told
LINE = next(number for number, line in enumerate(textwrap.dedent(APP).splitlines(), 1) if "hunter2" in line)


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("hooks") / "app.py"
    path.write_text(textwrap.dedent(APP))
    return path


@pytest.fixture(scope="module")
def server(app: Path) -> Iterator[Server]:
    with Server(
        hooks=app, tls=False, authorization="AlwaysAllow", tokens={"dev": User("dev", groups=("devs",))}
    ) as server:
        yield server


def config(name: str, do: str = "") -> Object:
    labels = {"loops": "yes" if do.startswith("loop") else "no"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": labels}, "data": {"do": do}}


def refusal(server: Server, obj: Object) -> str:
    with pytest.raises(Refused) as found:
        server.create(obj)
    return str(found.value)


@pytest.mark.parametrize("do", ["loop", "loop in C"])
def test_an_endless_loop_ends_its_worker_and_holds_nobody_else(server: Server, do: str) -> None:
    async def both() -> None:
        looping = asyncio.create_task(server.client.create(config("loop", do)))
        await server.client.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": beside}})
        assert not looping.done()
        with pytest.raises(Refused, match="it did not answer within 1 s"):
            await looping

    beside = f"beside-{do.replace(' ', '-').lower()}"
    asyncio.run(both())
    server.create(config(beside))


@pytest.mark.parametrize(
    ("do", "said"),
    [
        ("exit", "its worker ended"),
        ("sys.exit", "SystemExit"),
        ("recurse", "RecursionError"),
        ("no-stderr", "LookupError"),
    ],
)
def test_a_hook_that_ends_its_worker_fails_and_others_go_on(server: Server, do: str, said: str) -> None:
    assert said in refusal(server, config("x", do))
    server.create(config(f"after-{do.replace('.', '-')}"))


NOT_JSON = "its result is not JSON"
MALFORMED = "its worker returned a malformed answer"
ACCEPTED = "template.spec.containers: Required value"  # the hook succeeds, and the object is checked


@pytest.mark.parametrize(
    ("do", "said"),
    [
        ("generator", "it returned generator, which is not JSON"),
        ("text", "it returned str, not an object"),
        ("itself", "its result is nested too deeply, or contains itself"),
        ("deep", "its result is nested too deeply, or contains itself"),
        ("bytes", NOT_JSON),
        ("bytes-key", NOT_JSON),
        ("int-key", NOT_JSON),
        ("nan", f"{NOT_JSON}: a number is NaN or infinite"),
        ("huge", MALFORMED),
        ("kind", "json: cannot unmarshal number into Go struct field .kind of type string"),
        ("warnings", MALFORMED),
        ("warning", MALFORMED),
        ("annotation", MALFORMED),
        ("long", "bytes, and 4194304 are the most"),
        ("code", "it raised an exception (TypeError at "),
        ("details", "it raised an exception (TypeError at "),
        ("no-text", "it raised an exception (NoText at "),
        ("builtins", "its worker ended"),
        ("garbage", "its worker ended"),
        ("fork", ACCEPTED),  # in one process
        ("fork-garbage", ACCEPTED),  # the socket is not the child's
        ("shell", ACCEPTED),
        ("frames", ""),
        ("close", "its worker ended"),
        ("signal", "its worker ended"),
        ("threads", ACCEPTED),
        ("exit-thread", ACCEPTED),
        ("fork-bomb", "it did not answer within 3 s"),
    ],
)
def test_hooks_that_give_nonsense_fail_and_others_go_on(server: Server, app: Path, do: str, said: str) -> None:
    template = {"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": do, "labels": {"do": do}}}
    told = refusal(server, template)
    assert said in told
    assert "worker.py" not in told
    server.create(config(f"after-{do}"))


def test_a_generator_is_no_hook() -> None:
    with pytest.raises(ValueError, match="check: a hook returns its result, and cannot yield"):

        @hooks.validate("configmaps")
        def check() -> Iterator[int]:
            yield 1


def test_a_result_of_100_mb_is_not_sent(server: Server) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}}
    said = refusal(server, secret)
    assert "bytes, and 4194304 are the most" in said or "it did not answer within 1 s" in said
    server.create(config("after-flood"))


def test_a_coroutine_that_will_not_be_cancelled_ends_its_worker(server: Server) -> None:
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}, "spec": {"ports": [{"port": 80}]}}
    assert "it did not answer within 1 s" in refusal(server, service)
    server.create(config("after-coroutine"))


def test_a_coroutine_that_blocks_takes_no_other_hook_with_it(server: Server) -> None:
    async def both() -> None:
        limits = {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "a"}, "spec": {"limits": []}}
        blocked = asyncio.create_task(server.client.create(limits))
        await server.client.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "meanwhile"}})
        await server.client.create(config("behind-a-coroutine"))
        with pytest.raises(Refused, match="it did not answer within 1 s"):
            await blocked

    asyncio.run(both())


def test_only_administrators_hear_where_a_hook_failed_and_nobody_what_it_said(server: Server, app: Path) -> None:
    path = "/api/v1/namespaces/default/configmaps"
    said = refusal(server, config("x", "raise"))
    assert said == (
        f'Internal error occurred: failed calling hook "check": it raised an exception (RuntimeError at {app}:{LINE})'
    )
    client = Client(server.url, "dev")
    answer = client.post(path, config("x", "raise"))
    assert answer.status == 500
    assert answer.body["message"] == 'Internal error occurred: failed calling hook "check": it raised an exception'
    assert "hunter2" not in said + str(answer.body)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import nothing_of_that_name", "app.py:1: ModuleNotFoundError: No module named 'nothing_of_that_name'"),
        ("def x(:\n", "app.py:1: SyntaxError"),
        ("x = 1\n", "has no hooks: decorate a function"),
        ("import os\nos._exit(1)", "the worker ended while it loaded the hooks"),
    ],
)
def test_hooks_that_cannot_be_loaded_are_a_clear_error_at_the_start(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "app.py"
    path.write_text(text)
    with pytest.raises(StartError) as found, Server(hooks=path):
        pass
    assert said in str(found.value)


def test_a_missing_file_of_hooks_is_named(tmp_path: Path) -> None:
    with pytest.raises(StartError, match=r"/missing\.py: no such file$"), Server(hooks=tmp_path / "missing.py"):
        pass


def test_a_file_without_hooks_is_named_once(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("x = 1\n")
    with pytest.raises(StartError) as found, Server(hooks=tmp_path / "app.py"):
        pass
    assert str(found.value).count("app.py") == 1


def test_a_file_that_is_not_python_is_named(tmp_path: Path) -> None:
    (tmp_path / "app.yaml").write_text("a: 1")
    with pytest.raises(StartError, match=r"/app\.yaml: not a Python file: "), Server(hooks=tmp_path / "app.yaml"):
        pass


HOOK = "from podless import hooks\n@hooks.mutate('configmaps')\ndef change(obj):\n    obj['data'] = {{'by': '{0}'}}\n"


def test_changed_files_are_loaded_again_and_no_request_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "app.py"
    path.write_text(HOOK.format("first"))
    with Server(hooks=path, reload_hooks=True) as server:
        made: list[str] = []

        def until(wanted: str) -> None:
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline:
                made.append(server.create(config(f"c{len(made)}"))["data"]["by"])
                if made[-1] == wanted:
                    return
            raise AssertionError(f"never {wanted}")

        until("first")
        path.write_text("import nothing_of_that_name\n")
        hooks = server._get_app().cluster._hooks  # type: ignore[union-attr]
        assert hooks is not None
        seen = hooks._file_times
        deadline = time.monotonic() + 60
        while hooks._file_times is seen and time.monotonic() < deadline:
            made.append(server.create(config(f"c{len(made)}"))["data"]["by"])
        assert {*made} == {"first"}
        path.write_text(HOOK.format("second, and longer"))
        until("second, and longer")
        assert {*made} == {"first", "second, and longer"}


LEAVING = """
    import os, signal, subprocess, sys
    from podless import hooks

    @hooks.validate("configmaps", timeout=1)
    def leave(obj):
        code = "import os, signal; os.fork() and os._exit(0); print(os.getpid(), flush=True); signal.pause()"
        child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, start_new_session=True, env={})
        number = child.stdout.readline().decode()
        with open(obj["data"]["file"], "w") as file:
            file.write(number)
        if obj["data"]["do"] == "exit":
            os._exit(1)
        signal.pause()
"""


@pytest.mark.skipif(not CAN_KEEP, reason="needs Linux")
@pytest.mark.parametrize("do", ["exit", "wait"])
def test_a_process_that_leaves_the_group_and_the_environment_of_its_worker_ends_with_it(
    tmp_path: Path, do: str
) -> None:
    path, file = tmp_path / "app.py", tmp_path / "number"
    path.write_text(textwrap.dedent(LEAVING))
    with Server(hooks=path) as server:
        made = {**config("a"), "data": {"do": do, "file": str(file)}}
        assert "its worker ended" in (said := refusal(server, made)) or "within 1 s" in said
        wait_for_end(int(file.read_text()))


SERVER = """
import sys
from podless import Server

with Server(hooks=sys.argv[1]) as server:
    server.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"file": sys.argv[2]}})
"""
DYING = """
    import os, signal, subprocess, sys
    from podless import hooks

    @hooks.validate("configmaps", timeout=30)
    def kill_server(obj):
        code = "import os, signal; os.fork() and os._exit(0); print(os.getpid(), flush=True); signal.pause()"
        child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, start_new_session=True, env={})
        with open(obj["data"]["file"], "w") as file:
            file.write(f"{os.getpid()} {child.stdout.readline().decode()}")
        keeper = os.getppid()
        with open(f"/proc/{keeper}/stat") as stat:
            server = int(stat.read().rpartition(")")[2].split()[1])
        os.kill(server, signal.SIGKILL)
        while True:
            pass
"""


@pytest.mark.skipif(not CAN_KEEP, reason="needs Linux")
def test_a_worker_and_what_it_has_started_end_with_the_server(tmp_path: Path) -> None:
    path, file = tmp_path / "app.py", tmp_path / "numbers"
    path.write_text(textwrap.dedent(DYING))
    command = [sys.executable, "-c", SERVER, str(path), str(file)]
    assert subprocess.run(command, capture_output=True, check=False).returncode == -signal.SIGKILL
    for number in file.read_text().split():
        wait_for_end(int(number))


def wait_for_end(number: int) -> None:
    """Wait until a process has ended."""
    descriptor = open_process(number)
    if descriptor is not None:
        with open(descriptor, "rb"):
            assert select.select([descriptor], [], [], 60)[0]


def open_process(number: int) -> int | None:
    try:
        return os.pidfd_open(number)
    except ProcessLookupError:
        return None
