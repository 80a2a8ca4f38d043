"""MutatingAdmissionPolicies over HTTP."""

from __future__ import annotations

from tests.admission.conftest import World, patching

OTHER = {"kind": "Gadget", "apiVersion": "x/v1"}


def test_objects_are_merged_as_server_side_apply_merges(world: World) -> None:
    world.change("Object{spec: Object.spec{items: [Object.spec.items{name: 'b', size: object.spec.replicas}]}}")
    made = world.create("x", replicas=3, items=[{"name": "a", "size": 1}, {"name": "b", "size": 1}])
    assert made.status == 201
    assert made.body["spec"]["items"] == [{"name": "a", "size": 1}, {"name": "b", "size": 3}]
    assert world.client.get(world.path("x")).body["spec"] == made.body["spec"]


def test_what_would_replace_more_than_it_says_is_refused(world: World) -> None:
    name = world.change("Object{spec: Object.spec{tags: ['a']}}")
    refused = world.create("x", tags=["b"])
    assert (refused.status, refused.body["reason"]) == (403, "Invalid")
    why = "error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.tags"
    binding = world.made[-1].rpartition("/")[2]
    assert refused.body["message"] == f"policy '{name}' with binding '{binding}' denied request: {why}"


def test_a_field_that_is_not_in_the_schema_is_refused(world: World) -> None:
    world.change("Object{spec: Object.spec{colour: 'red'}}")
    refused = world.create("x")
    assert (
        "error applying patch: failed to convert patch object to typed object: .spec.colour: field not"
        in (refused.body["message"])
    )


def test_mutations_follow_each_other(world: World) -> None:
    world.change(
        "Object{spec: Object.spec{replicas: object.spec.replicas + 1}}",
        "[JSONPatch{op: 'replace', path: '/spec/replicas', value: object.spec.replicas * 10}]",
    )
    assert world.create("x", replicas=1).body["spec"]["replicas"] == 20


def test_a_test_that_does_not_hold_leaves_the_object_alone(world: World) -> None:
    test = "JSONPatch{op: 'test', path: '/spec/color', value: 'red'}"
    world.change(f"[{test}, JSONPatch{{op: 'add', path: '/spec/replicas', value: 9}}]")
    assert world.create("x", color="red").body["spec"]["replicas"] == 9
    assert world.create("y", color="blue").body["spec"]["replicas"] == 1


def test_a_patch_that_cannot_be_carried_out_says_why(world: World) -> None:
    world.change("[JSONPatch{op: 'remove', path: '/spec/color'}]")
    refused = world.create("x", replicas=2)
    said = "JSON Patch: error in remove for path: '/spec/color': Unable to remove nonexistent key: color: missing value"
    assert refused.body["message"].endswith(said)
    world.client.merge(world.made[-2], {"spec": {"failurePolicy": "Ignore"}})
    assert world.create("x").status == 201


def test_objects_in_patches_become_json(world: World) -> None:
    world.change("[JSONPatch{op: 'add', path: '/spec', value: Object.spec{color: 'red', replicas: 2}}]")
    refused = world.create("x")
    assert refused.status == 201
    assert refused.body["spec"] == {"color": "red", "replicas": 2}


def test_variables_and_parameters_are_there(world: World) -> None:
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": world.name}, "data": {"color": "green"}}
    assert world.client.post("/api/v1/namespaces/default/configmaps", config).status == 201
    world.change(
        "Object{spec: Object.spec{color: variables.color}}",
        variables=[{"name": "color", "expression": "params.data.color + '!'"}],
        paramKind={"apiVersion": "v1", "kind": "ConfigMap"},
        bind={"paramRef": {"name": world.name, "parameterNotFoundAction": "Deny"}},
    )
    assert world.create("x").body["spec"]["color"] == "green!"


def test_a_policy_is_asked_again_when_a_webhook_changes_the_object(world: World) -> None:
    grow = "Object{spec: Object.spec{replicas: object.spec.replicas + 1}}"
    world.change(grow, reinvocationPolicy="IfNeeded")
    world.change(grow)
    world.hook(patching({"op": "add", "path": "/spec/color", "value": "red"}), mutating=True)
    made = world.create("x", replicas=1)
    # the first policy twice, for the second one changed the object; the second one once
    assert made.body["spec"] == {"color": "red", "replicas": 4}


def test_validation_sees_what_policies_have_made(world: World) -> None:
    world.change("Object{spec: Object.spec{color: 'red'}}")
    world.validate("object.spec.color == 'red'")
    assert world.create("x", color="blue").status == 201


def test_built_in_kinds_are_changed_too(world: World) -> None:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}
    world.change(
        "Object{data: {'added': 'yes'}, metadata: Object.metadata{labels: {'by': 'policy'}}}",
        matchConstraints={"resourceRules": [rule | {"resourceNames": [world.name]}]},
    )
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": world.name}, "data": {"own": "too"}}
    made = world.client.post("/api/v1/namespaces/default/configmaps", config)
    assert made.body["data"] == {"added": "yes", "own": "too"}
    assert made.body["metadata"]["labels"] == {"by": "policy"}


def test_an_object_in_another_version_is_changed_in_that(world: World) -> None:
    world.change(
        "Object{spec: Object.spec{color: object.apiVersion + ' ' + request.requestKind.version}}",
        matchConstraints={"resourceRules": [world.rule(apiVersions=["v2"])]},
    )
    made = world.create("x")
    assert made.body["apiVersion"] == f"{world.group}/v1"
    assert made.body["spec"]["color"] == f"{world.group}/v2 v1"


def test_deletes_are_left_alone(world: World) -> None:
    rule = world.rule("*")
    world.change("Object{spec: Object.spec{color: 'red'}}", matchConstraints={"resourceRules": [rule]})
    world.create("x")
    assert world.client.send("DELETE", world.path("x")).status == 200


def test_a_patch_cannot_give_a_built_in_kind_fields_that_it_has_not(world: World) -> None:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}
    world.change(
        "[JSONPatch{op: 'add', path: '/more', value: 1}]",
        matchConstraints={"resourceRules": [rule | {"resourceNames": [world.name]}]},
    )
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": world.name}}
    refused = world.client.post("/api/v1/namespaces/default/configmaps", config)
    assert refused.status == 500
    assert refused.body["message"] == 'Internal error occurred: strict decoding error: unknown field "more"'


def test_a_patch_that_makes_no_object_is_a_fault_of_the_server(world: World) -> None:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}
    world.change(
        "[JSONPatch{op: 'add', path: '/data', value: 1}]",
        matchConstraints={"resourceRules": [rule | {"resourceNames": [world.name]}]},
    )
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": world.name}}
    refused = world.client.post("/api/v1/namespaces/default/configmaps", config)
    assert (refused.status, refused.body["reason"]) == (500, "InternalError")


def test_a_policy_that_wants_to_be_is_asked_again_for_its_own_change(world: World) -> None:
    world.change("Object{spec: Object.spec{replicas: object.spec.replicas + 1}}", reinvocationPolicy="IfNeeded")
    assert world.create("x", replicas=1).body["spec"]["replicas"] == 3


def test_what_a_policy_makes_of_a_custom_scale_cannot_be_had_back(world: World) -> None:
    world.create("x", replicas=1)
    rule = world.rule("UPDATE") | {"resources": ["gadgets/scale"]}
    for change, said in (
        (
            "[JSONPatch{op: 'replace', path: '/spec/replicas', value: 5}]",
            "CR to an invalid group/version: autoscaling/v1",
        ),
        ("Object{}", "no corresponding type for autoscaling/v1, Kind=Scale"),
    ):
        world.change(change, matchConstraints={"resourceRules": [rule]})
        refused = world.client.merge(world.path("x") + "/scale", {"spec": {"replicas": 2}})
        assert refused.status == 403
        assert any(cause["message"].endswith(said) for cause in refused.body["details"]["causes"])


def test_another_kind_is_found_by_the_next_mutation_and_another_version_at_the_end(world: World) -> None:
    world.change("[JSONPatch{op: 'add', path: '/kind', value: 'Foo'}]", "Object{}")
    said = "patch object to typed object: no corresponding type for"
    assert said in world.create("x").body["message"]
    world.client.merge(world.made[0], {"spec": {"failurePolicy": "Ignore"}})
    steps = (f"JSONPatch{{op: 'add', path: '/{name}', value: '{value}'}}" for name, value in OTHER.items())
    world.change(f"[{', '.join(steps)}]")
    refused = world.create("x")
    said = (
        "Internal error occurred: failed to convert object: x/v1, Kind=Gadget is unstructured and is not suitable for"
    )
    assert (refused.status, refused.body["message"].startswith(said)) == (500, True)


def test_a_policy_without_its_kind_of_parameters_is_named_alone(world: World) -> None:
    name = world.change("Object{}", paramKind={"apiVersion": "no.such/v1", "kind": "X"})
    said = (
        f'policy "{name}" denied request: failed to configure policy: failed to find resource referenced by paramKind'
    )
    assert world.create("x").body["message"].startswith(said)
