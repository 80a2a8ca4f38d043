"""IngressClasses: controllers and parameters."""

from __future__ import annotations

from typing import Any

import pytest

from podless.apis.networking.group import INGRESS_CLASSES
from tests.apis.late import changed, decoded, faults

PARAMETERS = {"kind": "Params", "name": "p"}


def spec(**parameters: Any) -> dict[str, Any]:
    """A class with parameters."""
    return {"controller": "example.com/c", "parameters": {**PARAMETERS, **parameters}}


def test_parameters_are_of_the_cluster() -> None:
    assert decoded(INGRESS_CLASSES, spec())["spec"]["parameters"]["scope"] == "Cluster"


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (spec(), ""),
        (spec(scope="Namespace", namespace="a"), ""),
        (
            spec(scope="Namespace"),
            "spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'",
        ),
        (spec(namespace="a"), "spec.parameters.namespace: Forbidden: `parameters.scope` is set to 'Cluster'"),
        (spec(scope="x"), 'spec.parameters.scope: Unsupported value: "x": supported values: "Cluster", "Namespace"'),
        ({"controller": "a/" + "b" * 250}, "spec.controller: Too long: may not be more than 250 bytes"),
    ],
)
def test_rules(given: dict[str, Any], wanted: str) -> None:
    assert faults(INGRESS_CLASSES, given) == ([wanted] if wanted else [])


def test_the_controller_stays() -> None:
    assert changed(INGRESS_CLASSES, spec(), {**spec(), "controller": "b.c/d"}) == [
        'spec.controller: Invalid value: "b.c/d": field is immutable'
    ]
