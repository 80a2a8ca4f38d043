"""What the parameters of a policy cost a write."""

from __future__ import annotations

import pytest

from podless.admission import params
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
    monkeypatch.setattr(params, "_KEPT", 1000)
    bind(own, 10)
    few = charged(own)
    more = dict.fromkeys((f"m{number}" for number in range(10_000)), "some text")
    assert own.send(merge(f"{CORE}/configmaps/p", {"data": more}))[0] == 200
    assert charged(own) > few + 1000
    own.close()
