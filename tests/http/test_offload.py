"""What takes long does not keep others waiting."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from podless import Server
from podless.cel import correlation
from podless.codec import serializer
from podless.meta.errors import Timeout, TooManyRequests
from podless.offload import process as offload_module
from podless.offload.process import ParserProcess
from podless.structs import repeats
from tests.conftest import Answer, Client

pytestmark = pytest.mark.slow

MAPS = "/api/v1/namespaces/default/configmaps"


@pytest.fixture
def apart() -> Iterator[ParserProcess]:
    made = ParserProcess()
    yield made
    made.close()


async def test_results_and_errors_come_back(apart: ParserProcess) -> None:
    repeated: list[str] = []
    text = b"a: [1, 1.5, 18446744073709551616]\nb: 1\nb: 2\n"
    assert correlation.equal_json(
        serializer.decode_yaml(await apart.parse_yaml(text), repeated), serializer.decode_yaml(text)
    )
    assert repeated == ['line 3: key "b" already set in map']
    for text in (b'{"a":[1.0,2]}', b'{"a":"\\ud800"}'):
        floats: serializer.Floats = []
        plain: serializer.Floats = []
        assert serializer.decode_json(await apart.parse_json(text), None, floats) == serializer.decode_json(
            text, None, plain
        )
        assert floats == plain
    with pytest.raises(serializer.YAMLError, match="did not find expected"):
        serializer.decode_yaml(await apart.parse_yaml(b"a: ["))
    with pytest.raises(serializer.JSONError, match="invalid character"):
        serializer.decode_json(await apart.parse_json(b"{]"))


async def test_what_is_applied_is_read_as_json_where_that_is_the_same(apart: ParserProcess) -> None:
    for text in (b'{"a":[1.0,2]}', b'{"a":"\\u00e9"}', b"a: b\n", b'{"a":1,"a":2}'):
        assert correlation.equal_json(
            serializer.decode_yaml(await apart.parse_applied(text)), serializer.decode_yaml(text)
        )
    with pytest.raises(serializer.YAMLError, match="did not find expected"):
        serializer.decode_yaml(await apart.parse_applied(b"a: ["))


async def test_what_is_needed_of_repeated_keys_comes_along(apart: ParserProcess) -> None:
    raw = b'{"a":{"b":1.5},"a":[{}]}'
    found = await apart.parse_json(raw)
    assert found.pairs is not None
    assert repeats.read_pairs(found) is found.pairs
    assert repeats.read_pairs(found) == repeats.read_pairs(raw)
    assert (await apart.parse_json(b'{"a":1}')).pairs is None


async def test_a_text_that_is_kept_is_the_same_each_time(apart: ParserProcess) -> None:
    raw = b'[{"value":[1.0,{}]}]'
    found = await apart.parse_json(raw)
    found.kept = True
    for _ in range(3):
        floats: serializer.Floats = []
        value = serializer.decode_json(found, None, floats)
        assert value == [{"value": [1, {}]}]
        assert floats == [((0, "value", 0), 1.0)]
        value[0]["value"].clear()


async def test_what_takes_too_long_is_ended_and_the_next_is_not_kept_waiting() -> None:
    apart, slow = ParserProcess(), ParserProcess(0.0)
    try:
        await apart.parse_yaml(b"a: 1")
        with pytest.raises(Timeout, match="did not complete within the allotted timeout"):
            await slow.parse_yaml(b"x: [" + b"0," * 200_000 + b"0]")
        assert serializer.decode_yaml(await apart.parse_yaml(b"a: 1")) == {"a": 1}
    finally:
        apart.close()
        slow.close()


async def test_all_of_a_process_share_one_worker_which_goes_with_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ParserProcess, "_shared", None)  # servers of other tests have the process's
    monkeypatch.setattr(ParserProcess, "_users", 0)
    one, other = ParserProcess(), ParserProcess()
    await one.parse_yaml(b"a: 1")
    await other.parse_yaml(b"a: 1")
    assert one._worker is other._worker
    assert one._worker is not None
    process = one._worker._process
    assert process is not None
    one.close()
    assert process.poll() is None
    other.close()
    assert process.poll() is not None


async def test_nobody_changes_how_often_threads_take_turns(apart: ParserProcess) -> None:
    before = sys.getswitchinterval()
    work = asyncio.ensure_future(apart.parse_yaml(b"x: [" + b"0," * 50_000 + b"0]"))
    await asyncio.sleep(0)
    assert sys.getswitchinterval() == before
    await work


async def test_more_than_may_wait_is_refused(apart: ParserProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offload_module, "_WAITING", 1)
    first = asyncio.ensure_future(apart.parse_yaml(b"a: 1"))
    await asyncio.sleep(0)
    with pytest.raises(TooManyRequests):
        await apart.parse_yaml(b"a: 1")
    await first


def test_a_program_that_ends_without_a_word_leaves_no_process() -> None:
    code = (
        "import asyncio; from podless.offload.process import ParserProcess; o = ParserProcess();"
        "asyncio.run(o.parse_yaml(b'a: 1')); print(o._worker._process.pid)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    pid = int(done.stdout)
    end = time.monotonic() + 60
    while _alive(pid):
        assert time.monotonic() < end
        time.sleep(0.01)


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def served_meanwhile(
    server: Server, client: Client, verb: str, path: str, body: bytes, kind: str
) -> tuple[int, Answer]:
    """How many requests of another client are answered until one is, and its answer."""
    answers, slow = [], Client(server.url, server.token)
    thread = threading.Thread(target=lambda: answers.append(slow.send(verb, path, body, Content_Type=kind)))
    thread.start()
    served = 0
    while thread.is_alive():
        assert client.get("/api/v1/namespaces/default").status == 200
        served += 1
    slow.close()
    return served, answers[0]


@pytest.mark.parametrize("verb", ["POST", "PATCH"])
def test_requests_are_answered_while_a_long_yaml_body_is_read(server: Server, client: Client, verb: str) -> None:
    name = f"long-{verb.lower()}"
    text = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\nx: [{'0,' * 100_000}0]\nx: 1\n"
    path, kind = MAPS, "application/yaml"
    if verb == "PATCH":
        path, kind = f"{MAPS}/{name}?fieldManager=me", "application/apply-patch+yaml"
    served, answer = served_meanwhile(server, client, verb, path, text.encode(), kind)
    if verb == "POST":
        assert answer.status == 201
        assert "already set in map" in answer.headers["Warning"]
    else:
        assert ".x: field not declared in schema" in answer.body["message"]
    assert served > 5


def test_what_is_wrong_with_a_long_yaml_body_is_said(client: Client) -> None:
    text = f"apiVersion: v1\nkind: ConfigMap\nx: [{'0,' * 50_000}\n".encode()
    answer = client.send("POST", MAPS, text, Content_Type="application/yaml")
    assert answer.status == 400
    assert "did not find expected" in answer.body["message"]


@pytest.mark.parametrize("verb", ["POST", "PATCH"])
def test_requests_are_answered_while_a_fault_in_a_long_json_body_is_looked_for(
    server: Server, client: Client, verb: str
) -> None:
    body = b'{"apiVersion":"v1","kind":"ConfigMap","data":{"a":["' + b'\\ud800","' * 100_000 + b'"]},}'
    path, kind = MAPS, "application/json"
    if verb == "PATCH":
        path, kind = "/api/v1/namespaces/default", "application/merge-patch+json"
    served, answer = served_meanwhile(server, client, verb, path, body, kind)
    assert answer.status == 400
    assert "invalid character '}' looking for beginning of object key string" in answer.body["message"]
    assert served > 5


def test_a_long_json_body_is_read_as_a_short_one(client: Client) -> None:
    text = '{"metadata":{"name":"long-json"},"data":{"a":"b","long":"%s","a":"c"},"more":1}' % ("x" * 300_000)
    answer = client.send("POST", f"{MAPS}?fieldValidation=Strict", text.encode())
    assert answer.status == 400
    assert 'strict decoding error: duplicate field "data.a", unknown field "more"' in answer.body["message"]
    assert client.send("POST", MAPS, text.encode()).body["data"]["a"] == "c"
    patch = '[{"op":"replace","path":"/data/a","value":"%s"}]' % ("y" * 300_000)
    answer = client.send("PATCH", f"{MAPS}/long-json", patch.encode(), Content_Type="application/json-patch+json")
    assert (answer.status, answer.body["data"]["a"]) == (200, "y" * 300_000)
