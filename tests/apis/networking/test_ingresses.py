"""Ingresses: hosts, paths, backends, and the class as it used to be named."""

from __future__ import annotations

from typing import Any

import pytest

from podless.apis.networking.group import INGRESSES
from tests.apis.late import faults, made, reported

BACKEND: dict[str, Any] = {"service": {"name": "web", "port": {"number": 80}}}
SPEC: dict[str, Any] = {"defaultBackend": BACKEND}
WHERE = "spec.rules[0].http.paths[0]"


def path(**given: Any) -> dict[str, Any]:
    """A spec with one path."""
    return {"rules": [{"http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": BACKEND, **given}]}}]}


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        (SPEC, ""),
        (path(), ""),
        ({"rules": [{"host": "*.example.com"}]}, ""),
        ({}, "spec: Invalid value: null: either `defaultBackend` or `rules` must be specified"),
        ({"rules": []}, "spec: Invalid value: []: either `defaultBackend` or `rules` must be specified"),
        ({**SPEC, "rules": []}, ""),
        (
            {"rules": [{"host": "1.2.3.4"}]},
            'spec.rules[0].host: Invalid value: "1.2.3.4": must be a DNS name, not an IP address',
        ),
        ({"rules": [{"http": {}}]}, "spec.rules[0].http.paths: Required value"),
        (path(pathType=None), f"{WHERE}.pathType: Required value: pathType must be specified"),
        (
            path(pathType="x"),
            f'{WHERE}.pathType: Unsupported value: "x": supported values: "Exact", "ImplementationSpecific", "Prefix"',
        ),
        (path(path="a"), f'{WHERE}.path: Invalid value: "a": must be an absolute path'),
        (path(path="/a//b"), f"{WHERE}.path: Invalid value: \"/a//b\": must not contain '//'"),
        (path(path="/a/.."), f"{WHERE}.path: Invalid value: \"/a/..\": cannot end with '/..'"),
        (path(backend={}), f'{WHERE}.backend: Invalid value: "": resource or service backend is required'),
        (
            path(backend={"service": {"name": "web"}}),
            f"{WHERE}.backend: Required value: port name or number is required",
        ),
        (
            path(backend={**BACKEND, "resource": {"kind": "A", "name": "b"}}),
            f'{WHERE}.backend: Invalid value: "": cannot set both resource and service backends',
        ),
    ],
)
def test_rules(spec: dict[str, Any], wanted: str) -> None:
    assert faults(INGRESSES, spec) == ([wanted] if wanted else [])


def test_a_class_named_twice_is_named_alike() -> None:
    errors = faults(INGRESSES, {**SPEC, "ingressClassName": "a"}, annotations={"kubernetes.io/ingress.class": "b"})
    assert errors == [
        'annotations.kubernetes.io/ingress.class: Invalid value: "b": '
        "must match `ingressClassName` when both are specified"
    ]


def test_the_annotation_is_told_of() -> None:
    obj = made(INGRESSES, SPEC, annotations={"kubernetes.io/ingress.class": "b"})
    version = INGRESSES.by_version["v1"]
    assert INGRESSES.strategy.list_warnings(version, obj, None) == [
        "annotation \"kubernetes.io/ingress.class\" is deprecated, please use 'spec.ingressClassName' instead"
    ]
    assert not INGRESSES.strategy.list_warnings(version, obj, obj)


def test_balancers_have_addresses() -> None:
    errors = reported(INGRESSES, SPEC, {"loadBalancer": {"ingress": [{"ip": "x"}, {"hostname": "1.2.3.4"}]}})
    assert [text.split(": ")[0] for text in errors] == [
        "status.loadBalancer.ingress[0].ip",
        "status.loadBalancer.ingress[1].hostname",
    ]
