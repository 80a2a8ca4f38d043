"""Kills a server at random moments under writers, and compares what clients were told with what is there afterwards.

`python -m tests.faults.kill ROUNDS [SEED]` does many rounds, prints the seed, and ends with 1 where something is wrong.
With `--etcd` the server's store is an etcd, which is killed as well.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import multiprocessing
import multiprocessing.connection
import os
import random
import sys
import tempfile
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from podless.cli import main as main_of_podless
from tests.conftest import CRDS, Client, definition, gadget
from tests.eventually import until
from tests.store.etcd.cluster import Member, running_member

GROUP = "kill.example.com"
OBJECTS = f"/apis/{GROUP}/v1/namespaces/default/gadgets"
WRITERS = 4
NAMES = 5  # of each writer
LOG = "/apis/history.podless.dev/v1/namespaces/default/history"
# a window that is soon left, so that servers are killed while they pack states, too
_HISTORY = ("--history", "1h,256Mi,1000", "--history-log", "720h,100Gi,100000000")
# what is killed, one after the other; "back" starts the etcd again while the server goes on
_DEATHS = (("server",), ("etcd", "server"), ("server", "etcd"), ("etcd", "back", "server"))
_SAMPLE = 20  # states that are read at their revisions
_UNKNOWN = (500, 503, 504)  # answers of a server whose etcd was killed: the write may have been carried out
_LOST = (OSError, http.client.HTTPException, ValueError)  # how a client notices that a server was killed


_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(
    [
        "podless.cli.serve",
        "podless.cel.rules",
        "podless.apis.apiextensions.definition.validate",
        "podless.schema.compile",
    ]
)


def _serve(folder: str, options: Sequence[str], said: multiprocessing.connection.Connection) -> None:
    """`podless serve`, which says where it is into a pipe."""
    os.dup2(said.fileno(), 1)
    sys.stdout = os.fdopen(1, "w", buffering=1)
    sys.exit(main_of_podless(["serve", "--data", folder, "--port", "0", "--insecure-http", *_HISTORY, *options]))


class Writer(threading.Thread):
    """Writes to objects of its own, and remembers what it was told.

    state: by name, the value and resourceVersion it was told last, None for gone. begun: the name that is being
    written, and the value that it may have. told: (type, name, value, resourceVersion) of each acknowledged write.
    """

    def __init__(self, url: str, token: str, number: int, seed: int, state: dict[str, Any]) -> None:
        super().__init__()
        self._client = Client(url, token)
        self._random = random.Random(seed)
        self._names = [f"w{number}-{place}" for place in range(NAMES)]
        self._seed = seed
        self.state = state
        self.begun: tuple[str, str | None] | None = None
        self.told: list[tuple[str, str, str, int]] = []

    def run(self) -> None:
        """Until the server is gone."""
        number = 0
        with contextlib.suppress(*_LOST):
            while True:
                number += 1
                self._write(self._random.choice(self._names), f"{self._seed}-{number}")

    def _write(self, name: str, value: str) -> None:
        known, path = self.state.get(name), f"{OBJECTS}/{name}"
        filling = "x" * self._random.choice((10, 1000, 20_000))
        if known is None:
            self.begun = name, value
            obj = gadget(GROUP, name, spec={"value": value, "filling": filling})
            type_, answer = "ADDED", self._client.post(OBJECTS, obj)
        elif self._random.random() < 0.3:
            self.begun = name, None
            type_, answer = "DELETED", self._client.send("DELETE", path)
        else:
            self.begun = name, value
            type_, answer = "MODIFIED", self._client.merge(path, {"spec": {"value": value, "filling": filling}})
        if answer.status in _UNKNOWN:
            raise ConnectionError(str(answer.body))
        if answer.status >= 300:
            raise AssertionError(f"{type_} {name}: {answer.body}")
        if type_ == "DELETED":
            self.state[name] = None
            self.told.append((type_, name, known[0] if known else "", 0))
        else:
            revision = int(answer.body["metadata"]["resourceVersion"])
            self.state[name] = value, revision
            self.told.append((type_, name, value, revision))
        self.begun = None


class Watcher(threading.Thread):
    """Remembers what a watch tells."""

    def __init__(self, url: str, token: str, revision: int) -> None:
        super().__init__()
        host = url.removeprefix("http://")
        self._connection = http.client.HTTPConnection(host, timeout=60)
        self._connection.request(
            "GET",
            f"{OBJECTS}?watch=1&resourceVersion={revision}",
            headers={"Authorization": f"Bearer {token}"},
        )
        self._answer = self._connection.getresponse()
        self.seen: list[tuple[str, str, str, int]] = []

    def run(self) -> None:
        """Until the server is gone."""
        with contextlib.suppress(*_LOST, KeyError):
            self.until("")

    def until(self, name: str) -> None:
        """Until there is an event about an object, "" for never."""
        while line := self._answer.readline():
            event = json.loads(line)
            obj = event["object"]
            metadata = obj["metadata"]
            if metadata["name"] == name:
                break
            self.seen.append((event["type"], metadata["name"], obj["spec"]["value"], int(metadata["resourceVersion"])))
        self._connection.close()


class Trial:
    """A folder whose server is killed again and again. member: the etcd of its state, which is killed as well."""

    def __init__(self, folder: Path, seed: int, member: Member | None = None) -> None:
        self._folder = folder
        self._member = member
        self._random = random.Random(seed)
        self._states: list[dict[str, Any]] = [{} for _ in range(WRITERS)]
        self.acknowledged = 0
        self._told: list[tuple[str, str, str, int]] = []
        self._process, self._client, self._url, self._token = self._start()
        assert self._client.post(CRDS, definition(GROUP)).status == 201

    def _start(self) -> tuple[multiprocessing.process.BaseProcess, Client, str, str]:
        """A server in a process of its own; one that has imported everything is forked, which takes a moment only."""
        receiving, sending = _CONTEXT.Pipe(duplex=False)
        options = ("--store", "etcd", "--etcd-servers", self._member.url) if self._member is not None else ()
        process = _CONTEXT.Process(target=_serve, args=(str(self._folder), options, sending))
        process.start()
        sending.close()
        self._said = os.fdopen(os.dup(receiving.fileno()))
        url = self._said.readline().split()[-1]
        token = (self._folder / "token").read_text().strip()
        return process, Client(url, token), url, token

    def round(self) -> None:
        """Write, kill, start, compare. Raises AssertionError where something is lost or made up."""
        first = int(self._client.get(OBJECTS).body["metadata"]["resourceVersion"])
        watcher = Watcher(self._url, self._token, first)
        writers = [
            Writer(self._url, self._token, number, self._random.getrandbits(30), state)
            for number, state in enumerate(self._states)
        ]
        for thread in (watcher, *writers):
            thread.start()
        wait = self._random.uniform(0.0, 0.5)
        if self._random.random() < 0.8:  # else it may be killed before the first answer
            while not any(writer.told for writer in writers):
                time.sleep(0.001)
        time.sleep(wait)
        self._kill()
        for thread in (watcher, *writers):
            thread.join()
        self._process, self._client, self._url, self._token = self._start()
        self._compare(first, watcher, writers)

    def _kill(self) -> None:
        """Kill the server, and its etcd if it has one, and start both again."""
        for step in self._random.choice(_DEATHS) if self._member is not None else ("server",):
            if step == "server":
                self.end()
            elif self._member is not None and step == "etcd":
                self._member.stop()
            elif self._member is not None:
                self._member.start()
                self._member.ready()
                until(lambda: self._client.get("/readyz").status == 200)
            time.sleep(self._random.choice((0.0, 0.01, 0.1)))
        if self._member is not None and self._member.process is None:
            self._member.start()
            self._member.ready()

    def _compare(self, first: int, watcher: Watcher, writers: list[Writer]) -> None:
        listed = self._client.get(OBJECTS).body
        there = {
            item["metadata"]["name"]: (item["spec"]["value"], int(item["metadata"]["resourceVersion"]))
            for item in listed["items"]
        }
        told = [one for writer in writers for one in writer.told]
        self.acknowledged += len(told)
        self._told += told
        newest = max([first, *(revision for *_, revision in told), *(revision for *_, revision in watcher.seen)])
        assert int(listed["metadata"]["resourceVersion"]) >= newest, "revisions went back"
        known: set[str] = set()
        for writer in writers:
            known |= writer.state.keys()
            for name, state in writer.state.items():
                found = there.get(name)
                if writer.begun is not None and writer.begun[0] == name and found != state:
                    assert (found[0] if found else None) == writer.begun[1], f"{name} is {found}"
                    writer.state[name] = found
                else:
                    assert found == state, f"{name} is {found}, told was {state}"
            if writer.begun is not None and writer.begun[0] not in writer.state and writer.begun[0] in there:
                writer.state[writer.begun[0]] = there[writer.begun[0]]
                known.add(writer.begun[0])
        assert there.keys() <= known, f"made up: {there.keys() - known}"
        self._compare_histories(first, watcher, told)

    def _compare_histories(self, first: int, watcher: Watcher, told: list[tuple[str, str, str, int]]) -> None:
        mark = f"mark-{first}"
        made = self._client.post(OBJECTS, gadget(GROUP, mark, spec={"value": ""}))
        assert made.status == 201
        again = Watcher(self._url, self._token, first)
        again.until(mark)
        history = again.seen
        revisions = [revision for *_, revision in history]
        assert revisions == sorted(revisions), "history is out of order"
        assert watcher.seen == history[: len(watcher.seen)], "a watch was told something else before"
        shown = {
            (type_, name, value, 0 if type_ == "DELETED" else revision) for type_, name, value, revision in history
        }
        assert shown >= {*told}, f"lost: {[one for one in told if one not in shown]}"
        assert len(history) <= len(told) + WRITERS, "more was written than anybody asked for"
        assert int(made.body["metadata"]["resourceVersion"]) > max([first, *revisions])
        assert self._client.send("DELETE", f"{OBJECTS}/{mark}").status == 200

    def compare_log(self) -> int:
        """Compare the log with all that was acknowledged in any round, and with the objects.

        Returns up to which revision it is packed; an etcd is compacted before. Raises AssertionError.
        """
        if self._member is not None:
            revision = self._client.get(OBJECTS).body["metadata"]["resourceVersion"]
            asked = json.dumps({"revision": revision, "physical": True}).encode()
            urllib.request.urlopen(f"{self._member.url}/v3/kv/compaction", asked, timeout=60).close()
        fields = f"object.group={GROUP},object.resource=gadgets"
        found, token = list[Any](), ""
        while True:
            page = self._client.get(f"{LOG}?limit=500&fieldSelector={quote(fields)}&continue={token}").body
            found += page["items"]
            token = page["metadata"].get("continue") or ""
            if not token:
                break
        sequences = [int(one["metadata"]["name"]) for one in found]
        assert sequences == sorted(set(sequences), reverse=True), "the log is out of order"
        assert all(one["author"]["user"] and one["author"]["verb"] for one in found), "an author is missing"
        operations = {"create": "ADDED", "update": "MODIFIED", "delete": "DELETED"}
        shown = Counter(
            (
                operations[one["operation"]],
                one["object"]["name"],
                0 if one["operation"] == "delete" else one["revision"],
            )
            for one in found
        )
        wanted = Counter((type_, name, revision) for type_, name, _, revision in self._told)
        assert not wanted - shown, f"the log lacks {wanted - shown}"
        newest: dict[str, Any] = {}
        for one in found:
            newest.setdefault(one["object"]["name"], one)
        there = {
            one["metadata"]["name"]: one["metadata"]["resourceVersion"]
            for one in self._client.get(OBJECTS).body["items"]
        }
        last = {name: str(one["revision"]) for name, one in newest.items() if one["operation"] != "delete"}
        assert last == there, "the log and the objects differ"
        states = [one for one in self._told if one[0] != "DELETED"]
        for _, name, value, revision in self._random.sample(states, min(_SAMPLE, len(states))):
            query = f"resourceVersion={revision}&resourceVersionMatch=Exact"
            state = self._client.get(f"{OBJECTS}/{name}?{query}").body
            assert (state["spec"]["value"], state["metadata"]["resourceVersion"]) == (value, str(revision))
        return int(self._client.get("/podless/status").body["compacted"])

    def end(self) -> None:
        """Kill the server."""
        self._process.kill()
        self._process.join()
        self._said.close()
        self._client.close()


def main() -> int:
    """Many rounds; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.kill")
    parser.add_argument("rounds", type=int)
    parser.add_argument("seed", type=int, nargs="?", default=random.getrandbits(30))
    parser.add_argument("--etcd", action="store_true")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        member = stack.enter_context(running_member()) if options.etcd else None
        trial = Trial(Path(folder) / "data", options.seed, member)
        for number in range(1, options.rounds + 1):
            trial.round()
            if number % 10 == 0:
                packed = trial.compare_log()
                told = f"{trial.acknowledged} acknowledged writes, none lost; packed up to revision {packed}"
                print(f"{number} rounds, {told}", flush=True)
        trial.end()
    return 0


if __name__ == "__main__":
    sys.exit(main())
