"""Sets in files: a state that kubectl makes, a set that is applied to it, and both ways to know what comes of that.

A file begins with its title. `#: before [mode=MODE] [manager=NAME] [applyset=PARENT] [namespace=NAME]` begins manifests
that kubectl applies first, `#: set` those of the set; `#: NAME VALUE` is an option of the plan. ${uid:KIND/NAME} is the
uid of an object, ${revision:KIND/NAME} its resourceVersion, ${applyset:NAME.NAMESPACE.KIND.GROUP} the id of an
ApplySet, ${tooling} the name of this kubectl.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from podless import Server
from podless.check.sources import SourceFile
from podless.codec import serializer
from podless.plan.fetch import RunningAPI
from podless.plan.manifests import Item, read_set, sort_items
from podless.plan.options import CREATE, MODES, REPLACE, SERVER_SIDE, PlanOptions
from podless.plan.result import Plan
from podless.plan.run import make_plan
from podless.plan.simulation import Simulation
from podless.remote.kubeconfig import read_kubeconfig
from podless.store.keys import OWN

SETS = Path(__file__).parent / "sets"
_HEAD = re.compile(r"^#: (.*)$", re.MULTILINE)
_LOGGED = re.compile(r"[IW]\d{4} |ApplySet field manager |- \.metadata")
_FIELD = re.compile(r"\$\{(uid|revision):(\w+)/([\w.-]+)\}")
_ID = re.compile(r"\$\{applyset:([\w.-]*)\}")
_TOOLING = "applyset.kubernetes.io/tooling"
_FIRST = ("Namespace", "CustomResourceDefinition")
_QUIET = ("/core/events/", "/coordination.k8s.io/leases/")
State = dict[str, dict[str, Any]]


@dataclass
class Part:
    text: str
    mode: str = SERVER_SIDE
    manager: str = ""
    applyset: str = ""
    namespace: str = ""


@dataclass
class Case:
    name: str
    title: str
    before: list[Part] = field(default_factory=list)
    text: str = ""
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def chosen(self) -> PlanOptions:
        return PlanOptions(**self.options)


def read_case(path: Path) -> Case:
    text = path.read_text()
    case = Case(path.stem, text.partition("\n")[0].removeprefix("# "))
    heads = [*_HEAD.finditer(text)]
    for index, head in enumerate(heads):
        body = text[head.end() : heads[index + 1].start() if index + 1 < len(heads) else len(text)]
        word, _, rest = head[1].partition(" ")
        if word == "before":
            case.before.append(Part(body, **dict(segment.split("=") for segment in rest.split())))
        elif word == "set":
            case.text = body
        else:
            case.options[word] = rest == "true" if rest in ("true", "false") else rest
            if word == "groups":
                case.options[word] = tuple(rest.split())
    mode = case.options.get("mode", SERVER_SIDE)
    for part in case.before:
        assert part.mode in MODES
        if part.mode == SERVER_SIDE and not part.manager and mode not in (REPLACE, CREATE):
            part.mode = mode
    return case


CASES = [read_case(path) for path in sorted(SETS.glob("*.yaml"))]


class Kubectl:
    """kubectl with a kubeconfig and caches of its own."""

    def __init__(self, server: Server, home: Path) -> None:
        self._environment = {**os.environ, "KUBECONFIG": str(server.kubeconfig), "HOME": str(home)}
        self._environment["KUBECTL_APPLYSET"] = "true"
        self._environment["GOMAXPROCS"] = "1"  # threads that look for work take a sixth of kubectl's processor time

    def run(self, *arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
        command = ["kubectl", *arguments]
        return subprocess.run(
            command, input=text, env=self._environment, capture_output=True, text=True, check=False, timeout=60
        )

    def write(self, text: str, options: PlanOptions) -> list[str]:
        """Write manifests in the order of a plan; returns what went wrong."""
        items, _ = read_set([SourceFile.of("set.yaml", text.encode())])
        items = sort_items(items, options.order)
        first = [] if options.prune or options.applyset else [item for item in items if item.obj["kind"] in _FIRST]
        said = []
        if first:
            said.append(self._write(first, options))
            if any(item.obj["kind"] == "CustomResourceDefinition" for item in first):
                self.run("wait", "--for=condition=Established", "crd", "--all", "--timeout=10s")
        rest = [item for item in items if item not in first]
        if rest:
            said.append(self._write(rest, options))
        lines = [line for text in said for line in text.splitlines() if line]
        return [line for line in lines if not line.startswith("Warning:") and not _LOGGED.match(line)]

    def judges(self, text: str, options: PlanOptions) -> bool:
        """Whether `kubectl diff` can say what a set changes: it ends with 0 or 1 then."""
        arguments = ["diff", "-f", "-", *(["--server-side"] if options.mode == SERVER_SIDE else [])]
        arguments += ["--force-conflicts"] if options.force else []
        done = self.run(*arguments, text=text)
        said = [line for line in done.stderr.splitlines() if not line.startswith("Warning:")]
        return done.returncode in (0, 1) and not said

    def _write(self, items: list[Item], options: PlanOptions) -> str:
        text = b"---\n".join(serializer.encode_yaml(item.obj) for item in items).decode()
        verb = options.mode if options.mode in (REPLACE, CREATE) else "apply"
        arguments = [verb, "-f", "-"]
        arguments += ["--server-side"] if options.mode == SERVER_SIDE else []
        arguments += ["--force-conflicts"] if options.force else []
        arguments += [f"--field-manager={options.manager}"] if options.manager else []
        arguments += ["--prune", "-l", options.prune] if options.prune else []
        arguments += ["--prune", f"--applyset={options.applyset}"] if options.applyset else []
        arguments += [f"--namespace={options.namespace}"] if options.namespace else []
        arguments += [f"--as={options.user}"] if options.user else []
        arguments += [f"--as-group={group}" for group in options.groups]
        arguments += [f"--as-uid={options.uid}"] if options.uid else []
        return self.run(*arguments, text=text).stderr


def make_id(parent: str) -> str:
    """The id of an ApplySet, by NAME.NAMESPACE.KIND.GROUP of its parent."""
    hashed = base64.urlsafe_b64encode(hashlib.sha256(parent.encode()).digest()).decode()
    return f"applyset-{hashed.rstrip('=')}-v1"


def prepare(case: Case, server: Server, kubectl: Kubectl) -> str:
    """Make the state of a case; returns its set."""

    def fill(text: str) -> str:
        def pick(found: re.Match[str]) -> str:
            obj = server.get(found[2], found[3])
            assert obj is not None
            return str(obj["metadata"]["uid" if found[1] == "uid" else "resourceVersion"])

        if "${tooling}" in text:
            told = json.loads(kubectl.run("version", "--client", "-o", "json").stdout)
            text = text.replace("${tooling}", f"kubectl/{told['clientVersion']['gitVersion']}")
        return _ID.sub(lambda found: make_id(found[1]), _FIELD.sub(pick, text))

    for part in case.before:
        options = PlanOptions(mode=part.mode, manager=part.manager, applyset=part.applyset, namespace=part.namespace)
        said = kubectl.write(fill(part.text), options)
        assert not said, said
    settle(server)
    return fill(case.text)


def settle(server: Server) -> None:
    app = server._get_app()
    assert app.cluster is not None
    server._run_coroutine(app.cluster.settle())


def read_state(server: Server) -> State:
    records = server.snapshot().records
    return {key: serializer.decode_json(stored.with_revision(1)) for key, stored in records.items()}


async def plan_case(case: Case, text: str, server: Server) -> tuple[Plan, State, State]:
    """Plan the set of a case; returns the plan, and the states before and after it in memory."""
    items, faults = read_set([SourceFile.of("set.yaml", text.encode())])
    before: State = {}
    after: State = {}

    async def observe(simulation: Simulation, revision: int) -> None:
        for record in await simulation.read_records():
            after[record.key] = serializer.decode_json(record.stored.with_revision(1))
        before.update(after)
        for change in reversed(await simulation.api.store.read_changes("/", revision)):
            if change.before is None:
                before.pop(change.key, None)
            else:
                before[change.key] = serializer.decode_json(change.before.stored.with_revision(1))

    api = RunningAPI(read_kubeconfig(server.kubeconfig))
    plan = await make_plan(items, faults, api, case.chosen, observe=observe)
    return plan, before, after


@dataclass
class Judged:
    """Whether `kubectl diff` and a plan can say what a set changes; a plan can where it refuses nothing."""

    by_diff: bool
    by_plan: bool


async def compare_diff(case: Case, server: Server, home: Path) -> Judged:
    """Ask `kubectl diff` about the set of a case, and the plan where kubectl cannot tell."""
    kubectl = Kubectl(server, home)
    text = prepare(case, server, kubectl)
    if kubectl.judges(text, case.chosen):
        return Judged(by_diff=True, by_plan=True)
    plan, _, _ = await plan_case(case, text, server)
    return Judged(by_diff=False, by_plan=not plan.refused)


def changed(before: State, after: State) -> dict[str, Any]:
    """What differs, masked: by key the new state, None for what is gone."""
    found: dict[str, Any] = {}
    for key in before.keys() | after.keys():
        if key.startswith((OWN, *_QUIET)) or before.get(key) == after.get(key):
            continue
        obj = after.get(key) or before.get(key)
        assert obj is not None
        prefix = obj["metadata"].get("generateName")
        if obj["kind"] == "IPAddress":  # named by an address that a server draws
            prefix = "/".join(obj["spec"]["parentRef"].values())
        name = f"{key.rpartition('/')[0]}/{prefix}*" if prefix else key
        found[name] = mask(after[key]) if key in after else None
    return found


_MASKED = (
    "uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "time", "lastTransitionTime", "lastUpdateTime",
)  # fmt: skip


def mask(obj: dict[str, Any]) -> Any:
    """An object without what each server chooses for itself."""
    masked = _masked(obj)
    annotations = masked["metadata"].get("annotations") or {}
    if annotations.get(_TOOLING, "").startswith("kubectl/"):
        annotations[_TOOLING] = "*"
    # entries of one second are in another order than those of two
    fields = masked["metadata"].get("managedFields") or []
    fields.sort(key=lambda one: (one.get("manager", ""), one["operation"], one.get("subresource", "")))
    if obj["metadata"].get("generateName") or obj["kind"] == "IPAddress":
        masked["metadata"]["name"] = "*"
    if obj["kind"] == "Service":
        for name in ("clusterIP", "clusterIPs", "healthCheckNodePort"):
            if masked.get("spec", {}).get(name) not in (None, "None", ["None"]):
                masked["spec"][name] = "*"
        for port in masked.get("spec", {}).get("ports") or ():
            if "nodePort" in port:
                port["nodePort"] = "*"
    return masked


def _masked(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: "*" if key in _MASKED and isinstance(item, str) else _masked(item) for key, item in value.items()}
    return [_masked(item) for item in value] if isinstance(value, list) else value
