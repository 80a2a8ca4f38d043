"""Printer columns of built-in kinds: how a pod does, how far a job is, what is bound to what."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from typing import Any

import pytest

from podless.apis import catalog
from podless.apis.shared.columns import format_selector, import_readers, shorten
from podless.publish.table import AgeFiller, make_builtin_layout, make_row
from podless.structs.structfiles import FOLDER, folder_of

NOW = 1_700_000_000.0
HOUR_AGO = "2023-11-14T21:13:20Z"


def cells(group: str, plural: str, obj: dict[str, Any]) -> dict[str, Any]:
    layout = make_builtin_layout(group, plural)
    found = json.loads(AgeFiller(NOW).fill_row(make_row(layout, obj, "None")))["cells"]
    return dict(zip((cell.name for cell in layout.columns), found, strict=True))


def pod(*states: dict[str, Any], first: Any = (), phase: str = "Running", **more: Any) -> dict[str, Any]:
    named = [{"name": f"c{index}", **state} for index, state in enumerate(states)]
    inits = [{"name": f"i{index}", **state} for index, state in enumerate(first)]
    return {
        "metadata": {"name": "p", **more.pop("metadata", {})},
        "spec": {
            "containers": [{"name": one["name"]} for one in named],
            "initContainers": more.pop("inits", [{"name": init["name"]} for init in inits]),
        },
        "status": {"phase": phase, "containerStatuses": named, "initContainerStatuses": inits, **more},
    }


RUNNING = {"ready": True, "state": {"running": {}}}
DONE = {"state": {"terminated": {"exitCode": 0, "reason": "Completed"}}}


@pytest.mark.parametrize(
    ("obj", "ready", "word"),
    [
        (pod(phase="Pending"), "0/0", "Pending"),
        (pod(RUNNING, RUNNING), "2/2", "Running"),
        (pod(RUNNING, {"state": {"waiting": {"reason": "CrashLoopBackOff"}}}), "1/2", "CrashLoopBackOff"),
        (pod({"state": {"terminated": {"exitCode": 3}}}), "0/1", "ExitCode:3"),
        (pod({"state": {"terminated": {"exitCode": 3, "signal": 9}}}), "0/1", "Signal:9"),
        (pod(DONE, phase="Succeeded"), "0/1", "Completed"),
        (pod(DONE, RUNNING), "1/2", "NotReady"),
        (pod(DONE, RUNNING, conditions=[{"type": "Ready", "status": "True"}]), "1/2", "Running"),
        (pod(RUNNING, first=[{"state": {"running": {}}}]), "0/1", "Init:0/1"),
        (pod(RUNNING, first=[{"state": {"terminated": {"exitCode": 1}}}]), "0/1", "Init:ExitCode:1"),
        (pod(RUNNING, first=[DONE]), "1/1", "Running"),
        (
            pod(
                RUNNING,
                first=[{"started": True, "ready": True}],
                inits=[{"name": "i0", "restartPolicy": "Always"}],
            ),
            "2/2",
            "Running",
        ),
        (
            pod(
                phase="Pending",
                conditions=[{"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}],
            ),
            "0/0",
            "SchedulingGated",
        ),
        (pod(RUNNING, metadata={"deletionTimestamp": HOUR_AGO}), "1/1", "Terminating"),
        (pod(DONE, phase="Succeeded", metadata={"deletionTimestamp": HOUR_AGO}), "0/1", "Completed"),
        (pod(RUNNING, reason="NodeLost", metadata={"deletionTimestamp": HOUR_AGO}), "1/1", "Unknown"),
    ],
)
def test_how_a_pod_does(obj: dict[str, Any], ready: str, word: str) -> None:
    shown = cells("", "pods", obj)
    assert (shown["Ready"], shown["Status"]) == (ready, word)


def test_restarts_say_when_the_last_one_was() -> None:
    ended = {"terminated": {"exitCode": 1, "finishedAt": HOUR_AGO}}
    assert cells("", "pods", pod({**RUNNING, "restartCount": 2, "lastState": ended}))["Restarts"] == "2 (60m ago)"
    assert cells("", "pods", pod({**RUNNING, "restartCount": 2}))["Restarts"] == "2"


def test_restarts_of_init_containers_count_up_to_the_one_that_runs() -> None:
    first = [{**DONE, "restartCount": 1}, {"state": {"running": {}}, "restartCount": 2}, {"restartCount": 4}]
    assert cells("", "pods", pod(first=first))["Restarts"] == "3"
    inits = [{"name": name, "restartPolicy": policy} for name, policy in (("i0", "Never"), ("i1", "Always"))]
    begun = pod(first=first, inits=inits, conditions=[{"type": "Initialized", "status": "True"}])
    assert (cells("", "pods", begun)["Restarts"], cells("", "pods", begun)["Ready"]) == ("2", "0/1")


@pytest.mark.parametrize(
    ("source", "target", "without", "empty"),
    [
        ("Resource", {"averageValue": "5"}, "cpu: <unknown>/5", "cpu: <nil>/5"),
        ("Resource", {"averageUtilization": 5}, "cpu: <unknown>/5%", "cpu: <unknown>/5%"),
        ("Pods", {"averageValue": "5"}, "<unknown>/5", "<nil>/5"),
        ("Object", {"value": "5"}, "<unknown>/5", "<nil>/5"),
        ("External", {"averageValue": "5"}, "<unknown>/5 (avg)", "<unknown>/5 (avg)"),
    ],
)
def test_a_metric_whose_status_has_no_value_is_nil(source: str, target: Any, without: str, empty: str) -> None:
    spec = {"metrics": [{"type": source, source.lower(): {"name": "cpu", "target": target}}]}
    obj = {"metadata": {"name": "h"}, "spec": spec, "status": {}}
    assert cells("autoscaling", "horizontalpodautoscalers", obj)["Targets"] == without
    obj["status"] = {"currentMetrics": [{"type": source, source.lower(): {"current": {}}}]}
    assert cells("autoscaling", "horizontalpodautoscalers", obj)["Targets"] == empty


@pytest.mark.parametrize(
    ("status", "word", "duration"),
    [
        ({}, "Running", ""),
        ({"startTime": HOUR_AGO}, "Running", "60m"),
        (
            {
                "startTime": HOUR_AGO,
                "completionTime": "2023-11-14T21:14:20Z",
                "conditions": [{"type": "Complete", "status": "True"}],
            },
            "Complete",
            "60s",
        ),
        ({"conditions": [{"type": "Suspended", "status": "True"}]}, "Suspended", ""),
        ({"conditions": [{"type": "Failed", "status": "False"}]}, "Running", ""),
    ],
)
def test_how_far_a_job_is(status: Any, word: str, duration: str) -> None:
    shown = cells("batch", "jobs", {"metadata": {"name": "j"}, "spec": {"parallelism": 2}, "status": status})
    assert (shown["Status"], shown["Duration"], shown["Completions"]) == (word, duration, "0/1 of 2")


def test_selectors_are_in_the_order_of_their_keys() -> None:
    given = {
        "matchLabels": {"b": "c"},
        "matchExpressions": [
            {"key": "a", "operator": "NotIn", "values": ["z", "y"]},
            {"key": "c", "operator": "Exists"},
            {"key": "d", "operator": "DoesNotExist"},
        ],
    }
    assert format_selector(given) == "a notin (y,z),b=c,c,!d"
    assert format_selector(None) == format_selector({}) == "<none>"


def test_long_lists_are_shorten() -> None:
    assert shorten(["a", "b", "c"]) == "a,b,c"
    assert shorten(["a", "b", "c", "d", "e"]) == "a,b,c + 2 more..."


KINDS = {(kind.group, kind.plural) for kind in catalog.ALL}


@pytest.mark.parametrize("group", sorted({group for group, _ in KINDS}))
def test_an_empty_object_has_cells(group: str) -> None:
    for plural in (plural for other, plural in KINDS if other == group):
        assert cells(group, plural, {"metadata": {"name": "x"}, "spec": {}, "status": {}})


@pytest.mark.parametrize(
    ("group", "plural"), [("storage.k8s.io", "storageclasses"), ("networking.k8s.io", "ingressclasses")]
)
def test_the_class_for_those_who_name_none_is_marked(group: str, plural: str) -> None:
    mark = f"{plural.removesuffix('es')}.kubernetes.io/is-default-class"
    for said, name in (("true", "c (default)"), ("yes", "c")):
        assert cells(group, plural, {"metadata": {"name": "c", "annotations": {mark: said}}})["Name"] == name


@pytest.mark.parametrize(
    ("subsets", "shown"), [([], "<none>"), ([{"notReadyAddresses": [{"ip": "1.2.3.4"}], "ports": [{"port": 80}]}], "")]
)
def test_endpoints_none_of_which_are_ready_show_nothing(subsets: list[Any], shown: str) -> None:
    assert cells("", "endpoints", {"metadata": {"name": "e"}, "subsets": subsets})["Endpoints"] == shown


def test_columns_are_those_of_kinds_that_are_there() -> None:
    folders = {folder_of(group): group for group, _ in KINDS}
    for file in sorted(FOLDER.glob("*/columns.txt")):
        folder = file.parent.name
        plurals = {block.split()[0] for block in file.read_text().split("\n\n")[1:]}
        plurals |= {*getattr(import_readers(folder), "ORDERS", ())}
        assert {(folders[folder], plural) for plural in plurals} <= KINDS


def test_every_public_function_of_a_group_is_a_reader_of_a_cell() -> None:
    for file in sorted(FOLDER.glob("*/columns.txt")):
        module, text = import_readers(file.parent.name), file.read_text()
        for name, item in vars(module).items() if module else ():
            if (
                inspect.isfunction(item)
                and item.__module__.endswith(f".{file.parent.name}.columns")
                and not name.startswith("_")
            ):
                assert f"{name}(" in text or item in getattr(module, "CONDITIONS", {}).values(), name


def test_the_columns_of_a_group_are_imported_at_its_first_table() -> None:
    code = (
        "import sys, podless.app, podless.http.api\n"
        "def loaded(): return sorted(name.split('.')[2] for name in sys.modules if name.endswith('.columns'))\n"
        "assert not loaded(), loaded()\n"
        "from podless.publish.table import make_builtin_layout\n"
        "make_builtin_layout('apps', 'deployments')\n"
        "print(loaded())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['apps', 'shared']"
