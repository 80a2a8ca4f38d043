"""Replay recorded conversations against a server and compare each answer; record the answers of a server."""

from __future__ import annotations

import functools
import json
import pickle
import queue
import re
import time
import urllib.parse
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.conformance.compare import difference, equal, meaning
from tests.conformance.normal import (
    Names,
    descriptions,
    mask_addresses,
    mask_documents,
    mask_prose,
    mask_years,
    normalise,
)
from tests.conformance.recorded import Recording
from tests.conformance.wire import Client, Watch

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_PATIENCE = 60.0  # seconds to wait for what has to come
_PAUSE = 0.02  # seconds between two tries
# How often `until` asks. Tries are counted, not seconds, so that a busy machine gets as many.
_TRIES = 500
# How often where the recorder waited for 10 s in vain, or where the recording does not tell: older releases lack what
# some recordings wait for.
_FEW_TRIES = 25
_SECONDS = 5.0  # how long the recorder waited for events, unless the step says otherwise

Step = dict[str, Any]


@dataclass
class Result:
    """The outcome of a scenario. answers: number of the step, the server's answer, the recorded answer."""

    scenario: Recording
    answers: list[tuple[int, Any, Any]] = field(default_factory=list)
    failure: str = ""

    @property
    def steps(self) -> int:
        """The number of steps with a recorded answer."""
        return sum("expect" in step for step in self.scenario["steps"])

    @property
    def exact(self) -> int:
        return sum(equal(got, want) for _, got, want in self.answers)

    @property
    def same(self) -> int:
        """The number of steps that are equal apart from the wording of messages."""
        return sum(equal(meaning(got), meaning(want)) for _, got, want in self.answers)

    def wrong(self) -> list[int]:
        """Return the numbers of the steps that are not exact. Steps that were never reached count."""
        exact = {number for number, got, want in self.answers if equal(got, want)}
        return [
            number for number, step in enumerate(self.scenario["steps"]) if "expect" in step and number not in exact
        ]

    def report(self, most: int | None = 3, reasons: Mapping[int, str] | None = None) -> str:
        """Describe the steps that differ.

        most: how many places of a step; None for all. reasons: why steps are known to differ, by number.
        """
        title = f"{self.scenario['area']}/{self.scenario['name']}"
        lines = [f"FAIL {title} ({self.exact}/{self.steps} exact, {self.same} in meaning) {self.failure}".rstrip()]
        for number, got, want in self.answers:
            if not equal(got, want):
                step = self.scenario["steps"][number]
                lines.append(f"   step {number} {step.get('method', step.get('do'))} {step.get('path', '')}")
                if reasons and number in reasons:
                    lines.append(f"      known: {reasons[number]}")
                lines += [f"      {line}" for line in difference(got, want)[:most]]
        return "\n".join(lines)


def replay(
    client: Client,
    scenario: Recording,
    pause: Callable[[float], None] = time.sleep,
    *,
    settles: bool = False,
    silence: float = 0,
) -> Result:
    """Send the requests of a scenario and compare the answers. Where it breaks off, `failure` has the reason.

    pause: lets that many seconds pass where the recording says so. settles: as for a recording, wait where a real
    server needs a moment. silence: seconds to wait for events that did not come when recorded; 0: as the recorder did.
    """
    conversation = _Conversation(client, scenario, pause, settles=settles, silence=silence)
    result = Result(scenario, conversation.answers)
    try:
        conversation.hold()
    except Exception as error:  # it fails alone, and the others go on
        result.failure = f"{type(error).__name__}: {error}"
        result.answers = []
    finally:
        conversation.tidy()
    return result


def record(client: Client, scenario: Recording) -> Recording:
    """Send the requests of a scenario and return it with the server's answers. Raises what breaks it off."""
    conversation = _Conversation(client, scenario, time.sleep, settles=True)
    try:
        conversation.hold()
    finally:
        conversation.tidy()
    told = conversation.told
    steps = [
        {key: value for key, value in step.items() if key != "expect"}
        | ({"expect": told[number]} if number in told else {})
        for number, step in enumerate(scenario["steps"])
    ]
    return scenario | {"steps": steps}


class _Conversation:
    """One scenario against one server.

    told: the normalised answers by the number of the step, with all prose. settles: the server needs a moment until a
    changed definition is in force.
    """

    def __init__(
        self,
        client: Client,
        scenario: Recording,
        pause: Callable[[float], None],
        *,
        settles: bool = False,
        silence: float = 0,
    ) -> None:
        self._settles, self._silence = settles, silence
        self.answers: list[tuple[int, Any, Any]] = []
        self.told: dict[int, Any] = {}
        self._client, self._scenario, self._pause = client, scenario, pause
        self._names = Names()
        self._saved: dict[str, Any] = {}
        self._watches: dict[str, Watch] = {}
        self._crds: list[str] = []

    @functools.cached_property
    def _own(self) -> set[str]:
        """The descriptions that the scenario itself sends."""
        return descriptions([step.get("body") for step in self._scenario["steps"]])

    def hold(self) -> None:
        for number, step in enumerate(self._scenario["steps"]):
            if self._scenario.get("independent"):  # a wrong answer then does not affect later steps
                self._names = Names()
            if self._broke(number):
                continue
            want = _copy(step.get("expect"))
            filled = _fill({key: value for key, value in step.items() if key != "expect"}, self._saved)
            got = self._step(filled, want)
            if got is None:
                continue
            self.told[number] = _copy(got)
            if got != want:  # of equal answers nothing need be hidden
                mask = mask_prose if step.get("path", "").startswith("/openapi") else mask_documents
                mask(got, self._own)
                mask(want, self._own)
                for told in (got, want):
                    mask_years(told.get("body") if isinstance(told, dict) else None)
                got, want = mask_addresses(got), mask_addresses(want)
            self.answers.append((number, got, want))

    def _broke(self, number: int) -> bool:
        """Whether the recorder found no answer here: it read events of a watch that was refused, and went on."""
        return any(told.startswith(f"step {number}: ") for told in self._scenario.get("broken", ()))

    def tidy(self) -> None:
        """Leave nothing for the next conversation."""
        for watch in self._watches.values():
            watch.close()
        for name in reversed(self._crds):
            self._strip_finalizers(name)
            self._client.send("DELETE", f"{CRDS}/{name}")
        for name in self._crds:
            self._wait_gone(f"{CRDS}/{name}")
        for path in self._scenario.get("cleanup", []):
            self._client.send("DELETE", _fill(path, self._saved))

    def _step(self, step: Step, want: Any) -> dict[str, Any] | None:
        match step.get("do", "request"):
            case "established":
                if f"{step['crd']} was not made" not in self._scenario.get("broken", ()):
                    self._established(step["crd"])
            case "gone":
                if not self._wait_gone(step["path"]):
                    raise TimeoutError(f"{step['path']} was still there after {_PATIENCE} s")
            case "settle":
                if self._settles:  # a replay must not need it
                    self._pause(step.get("ms", 500) / 1000)
            case "pause":
                self._pause(step["ms"] / 1000)
            case "watch":
                watch = Watch(self._client, _path(step), step.get("headers"))
                watch.start()
                self._watches[step["id"]] = watch
                return {"status": watch.status}
            case "events":
                return self._events(step, self._watches[step["id"]], _event_seconds(step, want, self._silence))
            case _:
                return self._request(step, want)
        return None

    def _established(self, name: str) -> None:
        deadline = time.monotonic() + _PATIENCE
        while time.monotonic() < deadline:
            status, _, raw = self._client.send("GET", f"{CRDS}/{name}")
            if status == 404:
                raise LookupError(f"{name} was never created")
            if status == 200 and self._served(json.loads(raw)):
                return
            time.sleep(_PAUSE)
        raise TimeoutError(f"{name} was not established and served in {_PATIENCE} s")

    def _served(self, crd: dict[str, Any]) -> bool:
        conditions = {
            condition["type"]: condition["status"] for condition in (crd.get("status") or {}).get("conditions") or []
        }
        if conditions.get("Established") != "True":
            return False
        group, plural = crd["spec"]["group"], crd["spec"]["names"]["plural"]
        served = [version["name"] for version in crd["spec"]["versions"] if version.get("served")]
        return all(self._client.send("GET", f"/apis/{group}/{name}/{plural}?limit=1")[0] != 404 for name in served)

    def _wait_gone(self, path: str) -> bool:
        deadline = time.monotonic() + _PATIENCE
        while time.monotonic() < deadline:
            if self._client.send("GET", path)[0] == 404:
                return True
            time.sleep(_PAUSE)
        return False

    def _strip_finalizers(self, name: str) -> None:
        """Let the objects of a definition go: a finalizer left by a scenario would hold it for ever."""
        status, _, raw = self._client.send("GET", f"{CRDS}/{name}")
        spec = json.loads(raw)["spec"] if status == 200 else {"versions": []}
        served = [version["name"] for version in spec["versions"] if version.get("served")]
        if not served:
            return
        base, plural = f"/apis/{spec['group']}/{served[0]}", spec["names"]["plural"]
        status, _, raw = self._client.send("GET", f"{base}/{plural}")
        for item in (json.loads(raw).get("items") or []) if status == 200 else []:
            meta = item["metadata"]
            if meta.get("finalizers"):
                space = f"/namespaces/{meta['namespace']}" if meta.get("namespace") else ""
                head = {"Content-Type": "application/merge-patch+json"}
                path = f"{base}{space}/{plural}/{meta['name']}"
                self._client.send("PATCH", path, {"metadata": {"finalizers": None}}, head)

    def _events(self, step: Step, watch: Watch, seconds: float) -> dict[str, Any]:
        seen: list[Any] = []
        deadline = time.monotonic() + seconds
        while len(seen) < step["count"]:
            try:
                event = watch.events.get(timeout=max(0.01, deadline - time.monotonic()))
            except queue.Empty:
                seen.append("TIMEOUT")
                break
            if event is None:
                seen.append("CLOSED")
                break
            is_bookmark = event["type"] == "BOOKMARK"
            if not is_bookmark or step.get("bookmarks"):
                path = ("BOOKMARK",) if is_bookmark else ()
                seen.append(normalise(event, self._names, step.get("keep", ()), path))
        return {"events": seen}

    def _request(self, step: Step, want: Any) -> dict[str, Any]:
        method, path = step["method"], _path(step)
        body = step["raw"].encode() if "raw" in step else step.get("body")
        until = step.get("until")
        for _ in range(_count_tries(until, want)):
            status, headers, raw = self._client.send(method, path, body, step.get("headers"))
            media = (headers.get("Content-Type") or "").split(";")[0]
            parsed = _parse(raw, media)
            if until is None or _reached(until, status, parsed):
                break
            time.sleep(_PAUSE)
        is_creation = method == "POST" and status == 201 and step["path"].startswith("/apis/apiextensions.k8s.io/")
        if is_creation and isinstance(parsed, dict) and parsed.get("kind") == "CustomResourceDefinition":
            self._crds.append(parsed["metadata"]["name"])
        for name, where in step.get("save", {}).items():
            self._saved[name] = _pick(parsed, where, f"<{where} is missing>")
        answer: dict[str, Any] = {"status": status, "type": media}
        if step.get("body_free"):
            return answer
        for where in step.get("mask", ()):
            _mask(parsed, where)
        if step.get("only"):  # compare just these parts of the answer, each a dotted path
            parsed = {where: _pick(parsed, where, "MISSING") for where in step["only"]}
        answer["body"] = normalise(parsed, self._names, step.get("keep", ()))
        if warnings := headers.get_all("Warning"):
            answer["warnings"] = warnings
        return answer


def _copy(value: Any) -> Any:
    """Return a deep copy of decoded JSON: pickle takes a fifth of the time of copy.deepcopy."""
    return pickle.loads(pickle.dumps(value))


def _event_seconds(step: Step, want: Any, silence: float) -> float:
    """Return how long to wait for events. As long as the recorder did where it got fewer than it waited for."""
    if want is not None and "TIMEOUT" not in want["events"]:
        return _PATIENCE  # they come: on a busy machine later
    return silence or float(step.get("seconds", _SECONDS))


def _count_tries(until: dict[str, Any] | None, want: Any) -> int:
    """Return how often to send a request. want: the recorded answer; None while recording."""
    if until is None:
        return 1
    return _TRIES if want is None or _reached(until, want["status"], want.get("body")) else _FEW_TRIES


def _path(step: Step) -> str:
    query = step.get("query")
    return str(step["path"]) + ("?" + urllib.parse.urlencode(query, doseq=True) if query else "")


def _parse(raw: bytes, media: str) -> Any:
    if "json" in media:
        try:
            return json.loads(raw)
        except ValueError:
            pass
    return raw.decode("utf-8", "replace")


def _reached(until: dict[str, Any], status: int, parsed: Any) -> bool:
    if "status" in until and status != until["status"]:
        return False
    return all(_pick(parsed, where, "MISSING") == wanted for where, wanted in until.get("equals", {}).items())


def _pick(value: Any, path: str, otherwise: Any) -> Any:
    try:
        for segment in path.split("."):
            value = value[int(segment)] if isinstance(value, list) else value[segment]
    except (KeyError, TypeError, IndexError, ValueError):
        return otherwise
    return value


def _mask(value: Any, path: str) -> None:
    *parents, last = path.split(".")
    try:
        for parent in parents:
            value = value[int(parent)] if isinstance(value, list) else value[parent]
        value[int(last) if isinstance(value, list) else last] = "MASKED"
    except (KeyError, TypeError, IndexError, ValueError):
        pass


def _fill(value: Any, saved: dict[str, Any]) -> Any:
    """Put what earlier answers said in the place of {{name}}."""
    if isinstance(value, dict):
        return {_fill(key, saved): _fill(item, saved) for key, item in value.items()}
    if isinstance(value, list):
        return [_fill(item, saved) for item in value]
    if isinstance(value, str) and "{{" in value:
        return re.sub(r"\{\{(\w+)\}\}", lambda found: str(saved[found.group(1)]), value)
    return value
