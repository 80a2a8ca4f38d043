"""The defaults of pods and templates, as a real server answers them."""

from __future__ import annotations

from typing import Any

import pytest

from podless.apis.podspec import amounts
from podless.apis.podspec.defaults import default_pod, default_pod_template, is_latest
from podless.codec import quantity
from podless.runtime.jsonobject import Object
from podless.structs import defaults
from podless.structs.structfiles import load_struct

POD = load_struct("core/v1", "Pod")
POD_TEMPLATE_SPEC = load_struct("core/v1", "PodTemplateSpec")


@pytest.mark.parametrize(
    ("image", "latest"),
    [
        ("nginx", True),
        ("nginx:latest", True),
        ("nginx:1.27", False),
        ("r.example.com:5000/a/b", True),
        ("r.example.com:5000/a/b:v1", False),
        ("localhost/a", True),
        ("A/b", True),
        ("Nginx", False),
        ("", False),
        ("a b", False),
        ("a__b--c", True),
        ("a___b", False),
        ("nginx@sha256:" + "0" * 64, False),
        ("nginx:latest@sha256:" + "0" * 64, True),
        ("nginx:latest@sha256:" + "0" * 63, False),
        ("0" * 64, False),
        ("a" * 300, False),
        ("[::1]:5000/a", True),
    ],
)
def test_latest(image: str, latest: bool) -> None:
    assert is_latest(image) is latest


def test_template_gets_what_every_spec_gets() -> None:
    template = {"spec": {"containers": [{"name": "c", "image": "nginx"}]}}
    defaults.fill_defaults(POD_TEMPLATE_SPEC, template)
    default_pod_template(template)
    assert template["spec"] == {
        "containers": [
            {
                "name": "c",
                "image": "nginx",
                "imagePullPolicy": "Always",
                "terminationMessagePath": "/dev/termination-log",
                "terminationMessagePolicy": "File",
            }
        ],
        "dnsPolicy": "ClusterFirst",
        "restartPolicy": "Always",
        "schedulerName": "default-scheduler",
        "securityContext": {},
        "terminationGracePeriodSeconds": 30,
    }


def _fill(pod: Object) -> None:
    defaults.fill_defaults(POD, pod)
    default_pod(pod)


def test_pod_asks_for_what_it_is_limited_to() -> None:
    limits = {"cpu": "1", "memory": "1Gi"}
    spec: Object = {"containers": [{"name": "c", "resources": {"limits": limits, "requests": {"cpu": "1m"}}}]}
    _fill({"metadata": {}, "spec": spec})
    assert spec["containers"][0]["resources"]["requests"] == {"cpu": "1m", "memory": "1Gi"}


def test_ports_of_the_host_network_are_the_hosts() -> None:
    spec: Object = {"hostNetwork": True, "containers": [{"ports": [{"containerPort": 80}]}]}
    _fill({"metadata": {}, "spec": spec})
    assert spec["containers"][0]["ports"] == [{"containerPort": 80, "hostPort": 80, "protocol": "TCP"}]


def test_amounts_are_rounded_to_thousandths() -> None:
    found = {"cpu": "100u", "memory": "1Gi", "a": "1500u"}
    quantity.round_quantities(found)
    assert found == {"cpu": "1m", "memory": "1Gi", "a": "2m"}


@pytest.mark.parametrize(
    ("containers", "quality"),
    [
        ([{}], "BestEffort"),
        ([{"resources": {"requests": {"cpu": "1"}}}], "Burstable"),
        (
            [{"resources": {"limits": {"cpu": "1", "memory": "1"}, "requests": {"cpu": "1", "memory": "1"}}}],
            "Guaranteed",
        ),
        (
            [{"resources": {"limits": {"cpu": "1", "memory": "2"}, "requests": {"cpu": "1", "memory": "1"}}}],
            "Burstable",
        ),
        ([{"resources": {"requests": {"example.com/a": "1"}}}], "BestEffort"),
    ],
)
def test_quality(containers: list[dict[str, object]], quality: str) -> None:
    assert amounts.compute_qos_class({"containers": containers}) == quality


def test_sidecars_count_with_all_that_follow() -> None:
    def asks(cpu: str, policy: str = "") -> dict[str, object]:
        return {"resources": {"requests": {"cpu": cpu}}, "restartPolicy": policy}

    spec = {"containers": [asks("1")], "initContainers": [asks("1", "Always"), asks("3")]}
    assert amounts.sum_resources(spec, "requests") == {"cpu": "4"}


def test_a_total_is_written_like_the_larger_of_init_containers_and_containers() -> None:
    def asks(memory: str) -> dict[str, Any]:
        return {"resources": {"requests": {"memory": memory}}}

    spec = {"containers": [asks("0"), asks("64Mi"), asks("1M")], "initContainers": [asks("1Mi"), asks("2G")]}
    assert amounts.sum_resources(spec, "requests") == {"memory": "2G"}
    assert amounts.sum_resources({"containers": spec["containers"]}, "requests") == {"memory": "68108864"}
