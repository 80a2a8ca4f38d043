from __future__ import annotations

import gc
import json
import logging
import os
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from podless import Server
from tests.conftest import CRDS, definition
from tests.fuzz.objects import OBJECTS
from tests.fuzz.wire import GROUP, LOG, Wire

SCHEMA = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "n": {"type": "integer", "minimum": 0, "default": 1},
                "s": {"type": "string", "maxLength": 10, "pattern": "^a"},
                "l": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["k"],
                    "items": {"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}}},
                },
                "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
                "any": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                "io": {"x-kubernetes-int-or-string": True},
                "m": {"type": "object", "additionalProperties": {"type": "number", "nullable": True}},
                "t": {"type": "string", "format": "date-time"},
            },
            "x-kubernetes-validations": [{"rule": "!has(self.n) || self.n < 100 || has(self.s)"}],
        },
        "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    },
}


@pytest.fixture(scope="session")
def target(request: pytest.FixtureRequest) -> Iterator[Server]:
    log = logging.getLogger("podless")
    log.addHandler(LOG)
    gc.freeze()  # as a server of its own does: what the tests have made is not for the collector to look through
    with Server(tls=False) as server:
        wire = Wire(server)
        version: dict[str, Any] = {
            "schema": {"openAPIV3Schema": SCHEMA},
            "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n"}},
            "additionalPrinterColumns": [
                {"name": "N", "type": "integer", "jsonPath": ".spec.n"},
                {"name": "T", "type": "date", "jsonPath": ".spec.t"},
                {"name": "L", "type": "string", "jsonPath": ".spec.l[?(@.k=='a')].k"},
            ],
        }
        assert wire.json("POST", CRDS, definition(GROUP, **version))[0] == 201
        wire.close()
        yield server
        LOG.said.clear()  # of servers in other tests
        check_state(wire)
        tell = getattr(request.config, "workeroutput", request.config.stash.setdefault(HELD, {}))
        tell["held"] = LOG.held
        wire.close()
        busiest = server._get_app().cluster.api.watchdog.busiest  # type: ignore[union-attr]
    log.removeHandler(LOG)
    if MAX:
        assert busiest[0] <= MAX, f"the event loop was held for {busiest[0]:.3f} s of processor time: {busiest[1]}"


# Seconds of the processor in one go; 0: any, for a machine that others use makes the loop wait for its memory too.
MAX = float(os.environ.get("FUZZ_HELD", "0"))


HELD = pytest.StashKey[dict[str, tuple[int, str]]]()


def check_state(wire: Wire) -> None:
    """The server is alive, and says the same of each object in a list and alone."""
    assert wire.send("GET", "/readyz") == (200, b"ok")
    for path in OBJECTS:
        code, raw = wire.send("GET", path)
        for item in json.loads(raw)["items"] if code == 200 else ():
            alone = wire.send("GET", f"{path}/{quote(item['metadata']['name'], safe='')}")
            found = json.loads(alone[1])
            assert alone[0] == 200, (path, item)
            assert found["metadata"]["uid"] == item["metadata"]["uid"]
            if found["metadata"]["resourceVersion"] == item["metadata"]["resourceVersion"]:
                assert found | {"kind": 0, "apiVersion": 0} == item | {"kind": 0, "apiVersion": 0}


@pytest.hookimpl(optionalhook=True)  # there are workers only where tests run in parallel
def pytest_testnodedown(node: Any) -> None:
    """What a worker tells of its server."""
    known = node.config.stash.setdefault(HELD, {})
    nothing = (0, "")
    known["held"] = max(known.get("held", nothing), tuple(getattr(node, "workeroutput", {}).get("held", nothing)))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """How long one request held the event loop: for people, for the machine has a say in that too."""
    if held := config.stash.get(HELD, {}).get("held"):
        terminalreporter.write_line(f"what held an event loop for longest: {held[1] or 'nothing, for 100 ms'}")


@pytest.fixture
def wire(target: Server) -> Iterator[Wire]:
    LOG.said.clear()  # of servers in other tests
    wire = Wire(target)
    yield wire
    wire.close()
