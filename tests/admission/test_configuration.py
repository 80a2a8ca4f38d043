"""What the parameters of a policy cost a write."""

from __future__ import annotations

from typing import Any

import pytest

from podless.admission import configuration
from podless.admission.matching import MatchConditions
from podless.runtime.jsonobject import Object
from tests.admission.conftest import GROUP
from tests.inside import Ask, Inside, merge

pytestmark = pytest.mark.slow

CORE = "/api/v1/namespaces/default"


def bind(inside: Inside, values: int) -> None:
    """Bind a policy for services to a config map of so many values."""
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["services"]}
    spec = {
        "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
        "matchConstraints": {"resourceRules": [rule]},
        "validations": [{"expression": "params.data.last == object.metadata.name", "message": "no"}],
    }
    bound = {"policyName": "p", "validationActions": ["Deny"], "paramRef": {"name": "p"} | _DENY}
    data = dict.fromkeys((f"k{number}" for number in range(values)), "some text") | {"last": "x"}
    for path, body in (
        (f"{CORE}/configmaps", {"data": data}),
        (f"{GROUP}/validatingadmissionpolicies", {"spec": spec}),
        (f"{GROUP}/validatingadmissionpolicybindings", {"spec": bound}),
    ):
        status, told = inside.send(Ask("POST", path, {"metadata": {"name": "p"}} | body))
        assert status == 201, told


_DENY = {"parameterNotFoundAction": "Deny"}
SERVICE: Object = {"metadata": {"name": "x"}, "spec": {"clusterIP": "None"}}
CREATE = Ask("POST", f"{CORE}/services?dryRun=All", SERVICE)


@pytest.fixture
def own() -> Inside:
    return Inside()


def charged(inside: Inside) -> int:
    """The steps that a create is charged, once all is known that it needs."""
    for _ in range(2):
        status, told, _ = inside.ask(CREATE)
        assert status == 201, told
    return inside.charged


def test_parameters_are_decoded_once(own: Inside) -> None:
    bind(own, 10)
    few = charged(own)
    more = dict.fromkeys((f"m{number}" for number in range(10_000)), "some text")
    assert own.send(merge(f"{CORE}/configmaps/p", {"data": more}))[0] == 200
    assert charged(own) < few + 100
    assert own.send(merge(f"{CORE}/configmaps/p", {"data": {"last": "y"}}))[0] == 200
    assert own.send(CREATE)[0] == 422
    own.close()


def test_parameters_that_are_too_long_are_not_kept(own: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(configuration, "_MAX_DECODED", 1000)
    bind(own, 10)
    few = charged(own)
    more = dict.fromkeys((f"m{number}" for number in range(10_000)), "some text")
    assert own.send(merge(f"{CORE}/configmaps/p", {"data": more}))[0] == 200
    assert charged(own) > few + 1000
    own.close()


def test_conditions_that_read_no_parameter_are_evaluated_once(own: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    real = MatchConditions.are_met

    def are_met(self: MatchConditions, values: Object, *more: Any) -> bool:
        asked.append(values["params"])
        return real(self, values, *more)

    monkeypatch.setattr(MatchConditions, "are_met", are_met)
    for number in range(5):
        body: Object = {"metadata": {"name": f"p{number}", "labels": {"p": "1"}}, "data": {"a": "b"}}
        assert own.send(Ask("POST", f"{CORE}/configmaps", body))[0] == 201
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["services"]}
    policy = {
        "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
        "matchConstraints": {"resourceRules": [rule]},
        "validations": [{"expression": "params.data.a == 'b'"}],
        "auditAnnotations": [{"key": "a", "valueExpression": "string(params.metadata.name)"}],
    }
    reference = {"selector": {"matchLabels": {"p": "1"}}, "namespace": "default"} | _DENY
    bound = {"validationActions": ["Deny"], "paramRef": reference}
    for name, condition in (("own", "object.metadata.name != ''"), ("params", "params.data.a == 'b'")):
        named = {"metadata": {"name": name}}
        body = named | {"spec": policy | {"matchConditions": [{"name": "c", "expression": condition}]}}
        assert own.send(Ask("POST", f"{GROUP}/validatingadmissionpolicies", body))[0] == 201
        body = named | {"spec": bound | {"policyName": name}}
        assert own.send(Ask("POST", f"{GROUP}/validatingadmissionpolicybindings", body))[0] == 201
    assert own.send(CREATE)[0] == 201
    assert len(asked) == 1 + 2 * 5  # the other conditions for each parameter, and again for its annotation
    own.close()
