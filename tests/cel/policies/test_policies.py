"""Expressions of policies: what they may name, budgets, variables, what they make."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

from podless.cel.policies import (
    BOOL,
    JSON_PATCHES,
    OBJECT,
    AccessCheck,
    AccessDecision,
    Activation,
    AuthorizerValue,
    Environment,
    ExpressionFailure,
    OutOfBudget,
    TypeMismatch,
    apply_message,
    make_patch_operations,
)


def value(source: str, kind: Any = (), *, patches: bool = False, **given: Any) -> Any:
    made = Environment(params=True).compile_expression(source, kind, patches=patches)
    assert not made.error
    return Activation(given).evaluate(made)


def test_the_values_of_a_request_are_freed_without_the_garbage_collector() -> None:
    environment = composed(("n", "object.n"))
    activation = Activation({"object": {"n": 1}}, environment.variables)
    assert activation.evaluate(environment.compile_expression("variables.n == 1", BOOL)) is True
    freed = weakref.ref(activation)
    gc.disable()
    try:
        del activation
        assert freed() is None
    finally:
        gc.enable()


def test_objects_are_plain_json() -> None:
    assert value("object.spec.replicas <= 5 && !has(object.spec.color)", object={"spec": {"replicas": 5}})
    assert value("oldObject == null && params == null")


def test_an_error_names_its_expression() -> None:
    with pytest.raises(ExpressionFailure, match=r"expression 'object.a > 1' resulted in error: no such key: a"):
        value("object.a > 1", object={})


def test_an_object_is_made_of_messages() -> None:
    source = "Object{spec: Object.spec{n: object.n + 1, tags: ['a']}, metadata: Object.metadata{labels: {'a': 'b'}}}"
    made = apply_message(value(source, OBJECT, patches=True, object={"n": 1}), ())
    assert made == {"spec": {"n": 2, "tags": ["a"]}, "metadata": {"labels": {"a": "b"}}}


def test_a_field_that_is_absent_is_not_set() -> None:
    source = "Object{spec: Object.spec{?color: object.?color, ?size: object.?size}}"
    assert apply_message(value(source, OBJECT, patches=True, object={"size": 3}), ()) == {"spec": {"size": 3}}


def test_a_message_stands_where_its_name_says() -> None:
    made = value("Object{spec: Object.spec{inner: Object.spec.other{}}}", OBJECT, patches=True)
    with pytest.raises(TypeMismatch, match=r'unexpected type name "Object.spec.other", expected "Object.spec.inner"'):
        apply_message(made, ())


def test_bytes_have_the_name_that_go_gives_them() -> None:
    made = apply_message(value("Object{spec: Object.spec{raw: b'x'}}", OBJECT, patches=True, object={}), ())
    assert made["spec"]["raw"].code == "[]uint8{0x78}"


def test_patches_are_made_of_values_of_the_object() -> None:
    source = "[JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('a/b~c'), value: object.color}]"
    made = value(source, JSON_PATCHES, patches=True, object={"color": "red"})
    assert make_patch_operations(made) == [{"op": "add", "path": "/metadata/labels/a~1b~0c", "value": "red"}]


def composed(*variables: tuple[str, str]) -> Environment:
    environment = Environment(composed=True)
    for name, source in variables:
        environment.declare_variable(name, source)
    return environment


def test_a_variable_is_evaluated_when_it_is_named_and_once() -> None:
    environment = composed(("n", "object.list.size()"), ("bad", "object.nothing"))
    made = environment.compile_expression("variables.n + variables.n == 4", BOOL)
    activation = Activation({"object": {"list": [1, 2]}}, environment.variables)
    assert activation.evaluate(made) is True
    spent = 10_000_000 - activation.remaining_budget
    again = activation.remaining_budget
    assert activation.evaluate(made) is True
    assert again - activation.remaining_budget < spent


def test_an_error_in_a_variable_is_one_of_its_user() -> None:
    environment = composed(("bad", "object.nothing"))
    made = environment.compile_expression("variables.bad == 1", BOOL)
    activation = Activation({"object": {}}, environment.variables)
    said = 'composited variable "bad" fails to evaluate: no such key: nothing'
    with pytest.raises(ExpressionFailure, match=said):
        activation.evaluate(made)
    either = environment.compile_expression("true || variables.bad == 1", BOOL)
    assert activation.evaluate(either) is True


def test_the_budget_ends() -> None:
    environment = Environment()
    made = environment.compile_expression("object.items.all(a, object.items.all(b, a == a))", BOOL)
    activation = Activation({"object": {"items": list(range(200))}}, budget=1000)
    with pytest.raises(OutOfBudget):
        activation.evaluate(made)


class Asked:
    def __init__(self) -> None:
        self.questions: list[AccessCheck] = []

    def __call__(self, question: AccessCheck) -> AccessDecision:
        self.questions.append(question)
        return AccessDecision(question.verb == "get", f"{question.verb} it is")


def test_the_authorizer_is_asked_what_the_steps_say() -> None:
    asked = Asked()
    source = (
        "authorizer.group('apps').resource('deployments').subresource('scale').namespace('n').name('x').check('get')"
    )
    assert value(f"{source}.allowed() && {source}.reason() == 'get it is'", authorizer=AuthorizerValue(asked))
    assert asked.questions[0] == AccessCheck("get", "", "apps", "deployments", "scale", "n", "x")
    assert not value("authorizer.path('/healthz').check('post').allowed()", authorizer=AuthorizerValue(asked))
    assert asked.questions[-1] == AccessCheck("post", path="/healthz")


def test_a_service_account_may_be_asked_for() -> None:
    asked = Asked()
    value("authorizer.serviceAccount('ns', 'sa').group('').resource('pods').check('get').allowed()",
          authorizer=AuthorizerValue(asked))  # fmt: skip
    assert asked.questions[0].account == ("ns", "sa")
    with pytest.raises(ExpressionFailure, match="Invalid service account name"):
        value(
            "authorizer.serviceAccount('ns', 'S A').path('/x').check('get').allowed()",
            authorizer=AuthorizerValue(asked),
        )


def test_the_requested_resource_is_ready_to_be_asked_about() -> None:
    asked = Asked()
    about = AuthorizerValue(asked).check_object("a.io", "things", "", "n", "x")
    made = Environment().compile_expression("authorizer.requestResource.check('get').allowed()", BOOL)
    assert Activation({"authorizer.requestResource": about}).evaluate(made) is True
    assert asked.questions[0] == AccessCheck("get", "", "a.io", "things", "", "n", "x")


def test_what_a_patch_says_can_be_asked() -> None:
    assert value("[JSONPatch{op: 'add', path: '/a'}].all(p, p.op == 'add' && !has(p.value))", patches=True)


def test_an_expression_that_no_longer_compiles_fails_when_it_is_needed() -> None:
    made = Environment().compile_expression("nothing.at == all", BOOL)
    with pytest.raises(
        ExpressionFailure, match="compilation error: compilation failed: ERROR: <input>:1:1: undeclared"
    ):
        Activation({}).evaluate(made)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("oldObject.spec.x == 1", "no such key: spec"),
        ("object.name.first == 'x'", "no such key: first"),
        ("object.list.first == 'x'", "unsupported index type 'string' in list"),
        ("oldObject['spec'] == 1", "no such key: spec"),
        ("namespaceObject.metadata.name == 'x'", "no such key: metadata"),
        ("object.name > 1", "no such overload"),
    ],
)
def test_what_is_null_or_plain_has_no_fields(source: str, said: str) -> None:
    with pytest.raises(ExpressionFailure, match=f"resulted in error: {said}"):
        value(source, object={"name": "text", "list": [1]})


def test_what_is_null_or_plain_may_be_asked_for_fields() -> None:
    assert value("!has(oldObject.spec) && !has(object.name.first)", object={"name": "text"})
    assert value("object.?name.?first.orValue('none') == 'none'", object={"name": "text"})
