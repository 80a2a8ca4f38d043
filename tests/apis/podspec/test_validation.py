"""What a PodSpec has to be, in the words of kube-apiserver 1.36."""

from __future__ import annotations

import pytest

from podless.apis.podspec.defaults import default_pod, default_pod_template
from podless.apis.podspec.template import validate_new_pod, validate_pod, validate_pod_template
from podless.apis.podspec.warnings import warn_of_overlaps
from podless.runtime.jsonobject import Object
from podless.structs import defaults, structs
from podless.structs.structfiles import load_struct
from tests.cost import assert_linear

POD = load_struct("core/v1", "Pod")
POD_TEMPLATE_SPEC = load_struct("core/v1", "PodTemplateSpec")

_LABEL = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-'"


def _pod(container: Object | None = None, **spec: object) -> Object:
    whole = {"containers": [{"name": "c", "image": "i", **(container or {})}], **spec}
    obj = structs.decode_struct(POD, {"metadata": {"name": "p"}, "spec": whole})
    defaults.fill_defaults(POD, obj)
    default_pod(obj)
    return obj


def _errors(obj: Object) -> list[str]:
    return [str(error) for error in validate_new_pod(obj)]


_CONTAINERS: list[tuple[Object, list[str]]] = [
    ({}, []),
    ({"image": ""}, ["image: Required value"]),
    ({"ports": [{"containerPort": 0}]}, ["ports[0].containerPort: Required value"]),
    (
        {"ports": [{"containerPort": 1, "hostPort": 1}, {"containerPort": 2, "hostPort": 1}]},
        ['ports[1].hostPort: Duplicate value: "TCP//1"'],
    ),
    (
        {"resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}},
        ['resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1'],
    ),
    (
        {"resources": {"requests": {"example.com/a": "1"}}},
        ["resources.limits: Required value: Limit must be set for non overcommitable resources"],
    ),
    (
        {"resources": {"limits": {"hugepages-2Mi": "3Mi", "cpu": "1"}}},
        [
            f'resources.{part}[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of '
            "hugepages-2Mi"
            for part in ("limits", "requests")
        ],
    ),
    ({"livenessProbe": {}}, ["livenessProbe: Required value: must specify a handler type"]),
    (
        {"readinessProbe": {"exec": {"command": ["x"]}, "terminationGracePeriodSeconds": 5}},
        ["readinessProbe.terminationGracePeriodSeconds: Invalid value: 5: must not be set for readinessProbes"],
    ),
    (
        {"env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "spec.x"}}}]},
        [
            'env[0].valueFrom.fieldRef.fieldPath: Invalid value: "spec.x": error converting fieldPath: '
            "field label not supported: spec.x"
        ],
    ),
    (
        {"volumeMounts": [{"name": "v", "mountPath": "/a"}]},
        ['volumeMounts[0].name: Not found: "v"'],
    ),
    (
        {"securityContext": {"procMount": "Unmasked"}},
        ['securityContext.procMount: Invalid value: "Unmasked": `hostUsers` must be false to use `Unmasked`'],
    ),
    (
        {"restartPolicyRules": [{"action": "Restart", "exitCodes": {"operator": "In", "values": [1]}}]},
        ["restartPolicy: Required value: must specify restartPolicy when restart rules are used"],
    ),
    (
        {"terminationMessagePolicy": "<x>"},
        [
            'terminationMessagePolicy: Unsupported value: "\\u003cx\\u003e": supported values: "File", '
            '"FallbackToLogsOnError"'
        ],
    ),
]


@pytest.mark.parametrize(("container", "errors"), _CONTAINERS)
def test_containers(container: Object, errors: list[str]) -> None:
    assert _errors(_pod(container)) == [f"spec.containers[0].{error}" for error in errors]


_SPECS: list[tuple[Object, list[str]]] = [
    (
        {"volumes": [{"name": "v", "emptyDir": {}, "hostPath": {"path": "/"}}]},
        ["volumes[0].hostPath: Forbidden: may not specify more than 1 volume type"],
    ),
    ({"dnsPolicy": "None"}, ["dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None"]),
    (
        {"tolerations": [{"operator": "Exists", "value": "x"}]},
        ["tolerations[0].operator: Invalid value: \"x\": value must be empty when `operator` is 'Exists'"],
    ),
    (
        {"topologySpreadConstraints": [{"maxSkew": 0, "topologyKey": "a", "whenUnsatisfiable": "DoNotSchedule"}]},
        ["topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero"],
    ),
    ({"schedulingGates": [{"name": "a"}, {"name": "a"}]}, ['schedulingGates[1]: Duplicate value: "a"']),
    ({"hostUsers": False, "hostPID": True}, ["HostPID: Forbidden: when `hostUsers` is false"]),
    ({"os": {"name": "x"}}, ['os: Unsupported value: "x": supported values: "linux", "windows"']),
    ({"os": {"name": "windows"}, "hostIPC": True}, ["hostIPC: Forbidden: cannot be set for a windows pod"]),
    (
        {"ephemeralContainers": [{"name": "e", "image": "i"}]},
        ["ephemeralContainers: Forbidden: cannot be set on create"],
    ),
    (
        {"securityContext": {"sysctls": [{"name": "net.a", "value": "1"}]}, "hostNetwork": True},
        ["securityContext.sysctls[0].name: Invalid value: \"net.a\": may not be specified when 'hostNetwork' is true"],
    ),
    (
        {"volumes": [{"name": "v", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}}]},
        [
            "volumes[0].projected.sources[0].serviceAccountToken: Forbidden: must not be specified when "
            "serviceAccountName is not set"
        ],
    ),
    (
        {"hostAliases": [{"ip": "010.0.0.1"}]},
        ['hostAliases[0].ip: Invalid value: "010.0.0.1": must not have leading 0s'],
    ),
    (
        {"resources": {"limits": {"cpu": "1"}, "requests": {"cpu": "2"}}},
        ['resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1'],
    ),
]


@pytest.mark.parametrize(("spec", "errors"), _SPECS)
def test_specs(spec: Object, errors: list[str]) -> None:
    assert _errors(_pod(**spec)) == [f"spec.{error}" for error in errors]


def test_no_escalation_shows_the_whole_context() -> None:
    pod = _pod({"securityContext": {"privileged": True, "allowPrivilegeEscalation": False}})
    privileged, escalation = _errors(pod)
    assert privileged == "spec.containers[0].securityContext.privileged: Forbidden: disallowed by cluster policy"
    shown = (
        '{"Capabilities":null,"Privileged":true,"SELinuxOptions":null,"WindowsOptions":null,"RunAsUser":null,'
        '"RunAsGroup":null,"RunAsNonRoot":null,"ReadOnlyRootFilesystem":null,"AllowPrivilegeEscalation":false,'
        '"ProcMount":null,"SeccompProfile":null,"AppArmorProfile":null}'
    )
    text = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"
    assert escalation == f"spec.containers[0].securityContext: Invalid value: {shown}: {text}"


def test_templates_need_no_references_of_images_and_allow_spaces() -> None:
    spec: Object = {
        "containers": [{"name": "c", "image": " i"}],
        "volumes": [{"name": "v", "image": {"reference": ""}}],
    }
    template: Object = {"spec": spec}
    defaults.fill_defaults(POD_TEMPLATE_SPEC, template)
    default_pod_template(template)
    assert [*validate_pod_template(template, "spec.template")] == []
    pod = _pod({"image": " i"}, volumes=spec["volumes"])
    assert len(_errors(pod)) == 2


def test_what_was_wrong_before_may_stay() -> None:
    term = {"matchExpressions": [{"key": "a", "operator": "In", "values": ["not valid"]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    pod = _pod(affinity={"nodeAffinity": required})
    assert len([*validate_pod(pod, None)]) == 1
    assert [*validate_pod(pod, pod)] == []


def test_names_of_containers_are_labels() -> None:
    assert _errors(_pod({"name": "A"}))[0].startswith(f'spec.containers[0].name: Invalid value: "A": {_LABEL}')


@pytest.mark.parametrize("paths", [["a", "a/b", "b", "a/b/c"], ["a/b/", "a"], ["", "a", "/a"], ["a", "ab", "a"]])
def test_files_that_are_in_the_way_of_others(paths: list[str]) -> None:
    items = [{"key": "k", "path": path} for path in paths]
    told = list(warn_of_overlaps({"volumes": [{"name": "v", "secret": {"secretName": "s", "items": items}}]}))
    plain = [path.rstrip("/") for path in paths]
    assert told == [
        f'volume "v" (Secret "s"): overlapping paths: "{one}" with "{two}"'
        for index, one in enumerate(plain)
        for two in plain[:index]
        if one and two and (f"{one}/".startswith(f"{two}/") or f"{two}/".startswith(f"{one}/"))
    ]


def test_many_files_are_looked_at_once() -> None:
    for path in ("f{}", "f", "{}/f", "f/f", "f/{}"):
        assert_linear(
            lambda items: list(warn_of_overlaps({"volumes": [{"name": "v", "secret": {"items": items}}]})),
            lambda size, path=path: [{"path": path.format(n)} for n in range(size)],  # type: ignore[misc]
            60,
        )
