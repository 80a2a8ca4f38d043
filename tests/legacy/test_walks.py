"""The documents of the two older generations, example by example: with kubectl, with an old kubectl where one is named
by PODLESS_KUBECTL_OLD, and in plain HTTP."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from podless import Server
from tests.cli.test_convert import PUBLISHED
from tests.conftest import SHARED, Client
from tests.legacy.conftest import RUNTIME
from tests.legacy.drivers import Driver, Kubectl, Plain, Refused

pytestmark = pytest.mark.clients

KUBECTLS = {"kubectl": "kubectl", "old-kubectl": os.environ.get("PODLESS_KUBECTL_OLD", "")}
STABLE = "stable.example.com/v1"
MINE = "my-new-cron-object"


def document(number: str) -> str:
    """A founding document as text."""
    found = sorted((SHARED / "seeds").glob(f"{number}*"))
    if not found:
        pytest.skip("the documents are not beside this checkout")
    return found[0].read_text()


def definitions(heading: str) -> dict[str, str]:
    """The first v1 and v1beta1 definitions after a heading, by version."""
    text = document("001")
    found: dict[str, str] = {}
    for example in re.findall(
        r"^apiVersion: apiextensions\.k8s\.io/\w+\n(?:(?!# Deprecated|apiVersion).+\n)+",
        text[text.index(f"\n{heading}\n\n") :],
        re.MULTILINE,
    ):
        found.setdefault(yaml.safe_load(example)["apiVersion"].partition("/")[2], example)
        if len(found) == 2:
            break
    return found


def crontab(spec: str = 'cronSpec: "* * * * */5", image: my-awesome-cron-image', extra: str = "") -> str:
    return f"---\n{{apiVersion: {STABLE}, kind: CronTab, metadata: {{name: {MINE}}}, spec: {{{spec}}}{extra}}}"


@pytest.fixture
def server() -> Iterator[Server]:
    """A server for each walk: the examples all define the same kind."""
    with Server(runtime_config=RUNTIME) as running:
        yield running


def command(name: str) -> str:
    found = shutil.which(KUBECTLS[name])
    if not found:
        pytest.skip(f"there is no {name} on this machine")
    return found


@pytest.fixture(params=["plain", *KUBECTLS])
def driver(request: Any, server: Server, tmp_path: Path) -> Iterator[Driver]:
    if request.param != "plain":
        yield Kubectl(command(request.param), server, tmp_path)
        return
    client = Client(server.url, server.token)
    yield Plain(client)
    client.close()


@pytest.fixture(params=[*KUBECTLS])
def kubectl(request: Any, server: Server, tmp_path: Path) -> Kubectl:
    return Kubectl(command(request.param), server, tmp_path)


def refused(action: Any, *arguments: str) -> str:
    with pytest.raises(Refused) as caught:
        action(*arguments)
    return str(caught.value)


def test_create_a_definition_and_objects_and_delete_it(driver: Driver) -> None:
    older = definitions("Create a CustomResourceDefinition")["v1beta1"]
    driver.apply(older)
    driver.apply(crontab())
    assert driver.listed(STABLE, "crontabs") == [MINE]
    shown = driver.show(STABLE, "crontabs", MINE)
    assert shown["spec"] == {"cronSpec": "* * * * */5", "image": "my-awesome-cron-image"}
    assert shown["metadata"]["generation"] == 1
    assert {"creationTimestamp", "uid", "resourceVersion"} <= shown["metadata"].keys()
    driver.delete(older)
    assert refused(driver.listed, STABLE, "crontabs")
    driver.apply(older)
    assert driver.listed(STABLE, "crontabs") == []


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_pruning(driver: Driver, version: str) -> None:
    driver.apply(definitions("Create a CustomResourceDefinition")[version])
    made = driver.create(crontab('cronSpec: "* * * * */5", image: my-awesome-cron-image', ", someRandomField: 42"))
    assert "someRandomField" not in made
    assert made["spec"] == {"cronSpec": "* * * * */5", "image": "my-awesome-cron-image"}


def with_schema(schema: str, preserve: bool = False) -> str:
    """The first definition of v1beta1 with another schema."""
    crd = yaml.safe_load(definitions("Create a CustomResourceDefinition")["v1beta1"])
    crd["spec"] |= {"validation": {"openAPIV3Schema": yaml.safe_load(schema)}, "preserveUnknownFields": preserve}
    text: str = yaml.safe_dump(crd)
    return text


def schema_after(words: str, heading: str = "\n") -> str:
    """The schema that a sentence of the document introduces."""
    text = document("001")
    start = text.index(words, text.index(heading)) + len(words)
    return text[start:].strip("\n").partition("\n\n")[0]


def violations(driver: Driver, name: str = "crontabs.stable.example.com") -> str:
    """What the condition says of how a definition is not structural."""
    found = driver.show("apiextensions.k8s.io/v1beta1", "customresourcedefinitions", name)["status"]["conditions"]
    return next((one["message"] for one in found if one["type"] == "NonStructuralSchema"), "")


@pytest.mark.parametrize(
    ("example", "message"),
    [
        ("{allOf: [{properties: {foo: {type: string}}}]}", "properties[foo]: Required value: because it is defined in"),
        ("{allOf: [{items: {properties: {foo: {}}}}]}", "items: Required value: because it is defined in"),
    ],
)
def test_schemas_that_are_not_structural(driver: Driver, example: str, message: str) -> None:
    driver.apply(with_schema(example, preserve=True))
    assert message in violations(driver)
    # what the document has in their place is structural, but for the types that it leaves out
    right = yaml.safe_load(example)
    right["type"] = "object"
    if "items" in example:
        right = {"type": "object", "properties": {"list": {"type": "array", "items": {"type": "object"}}}}
    else:
        right["properties"] = {"foo": {"type": "string"}}
        right["allOf"] = [{"properties": {"foo": {"pattern": "a"}}}]
    driver.apply(with_schema(yaml.safe_dump(right)))
    assert violations(driver) == ""


def test_the_third_example_and_its_structural_counterpart(driver: Driver) -> None:
    driver.apply(with_schema(schema_after("Non-Structural Example 3:"), preserve=True))
    found = violations(driver)
    for text in (
        "openAPIV3Schema.type: Required value",
        "properties[foo].type: Required value",
        "properties[bar]: Required value",
        "properties[bar].type: Forbidden",
        "anyOf[0].description: Forbidden",
        "properties[metadata]: Forbidden",
    ):
        assert text in found
    driver.apply(with_schema(schema_after("In contrast, the following, corresponding schema is structural:")))
    assert violations(driver) == ""
    driver.create(f"---\n{{apiVersion: {STABLE}, kind: CronTab, metadata: {{name: abc}}, foo: abc, bar: 42}}")
    text = refused(
        driver.create, f"---\n{{apiVersion: {STABLE}, kind: CronTab, metadata: {{name: abd}}, foo: x, bar: 1}}"
    )
    assert "foo in body should match 'abc'" in text
    assert "bar" in text


def test_controlling_pruning(driver: Driver) -> None:
    heading = "\nControlling pruning\n"
    value = "json: {spec: {foo: abc, bar: def, something: x}, status: {something: x}}"
    driver.apply(with_schema(schema_after("in the structural OpenAPI v3 validation schema:", heading)))
    assert driver.create(crontab("", f", {value}"))["json"] == yaml.safe_load(value)["json"]
    driver.apply(with_schema(schema_after("It is possible to partially specify the permitted JSON, e.g.:", heading)))
    text = refused(driver.create, crontab("", ", json: text").replace(MINE, "other"))
    assert "must be of type object" in text
    driver.apply(with_schema(schema_after("specified property (or additionalProperties):", heading)))
    again = driver.create(crontab("", f", {value}").replace(MINE, "third"))
    assert again["json"] == {"spec": {"foo": "abc", "bar": "def"}, "status": {"something": "x"}}


def test_int_or_string(driver: Driver) -> None:
    driver.apply(with_schema(schema_after("such that the following is structural:", "\nIntOrString\n")))
    for index, (value, fine) in enumerate((("1", True), ("one", True), ("[1]", False))):
        manifest = crontab("", f", foo: {value}").replace(MINE, f"c{index}")
        if fine:
            driver.create(manifest)
        else:
            assert 'foo in body must be of type integer,string: "array"' in refused(driver.create, manifest)


def test_embedded_resources(driver: Driver) -> None:
    schema = schema_after("by setting x-kubernetes-embedded-resource: true. For example:", "\nRawExtension\n")
    driver.apply(with_schema(schema))
    pod = "foo: {apiVersion: v1, kind: Pod, metadata: {name: a, labels: {a: b}}, spec: {x: 1}}"
    assert driver.create(crontab("", f", {pod}"))["foo"]["spec"] == {"x": 1}
    text = refused(driver.create, crontab("", ", foo: {apiVersion: v1}").replace(MINE, "other"))
    assert "foo.kind" in text


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_validation(driver: Driver, version: str) -> None:
    driver.apply(definitions("Validation")[version])
    text = refused(driver.create, crontab('cronSpec: "* * * *", image: my-awesome-cron-image, replicas: 15'))
    assert r"should match '^(\d+|\*)(/\d+)?(\s+(\d+|\*)(/\d+)?){4}$'" in text
    assert "spec.replicas in body should be less than or equal to 10" in text
    made = driver.create(crontab('cronSpec: "* * * * */5", image: my-awesome-cron-image, replicas: 5'))
    assert made["spec"]["replicas"] == 5


def test_defaulting_is_for_v1(driver: Driver) -> None:
    found = definitions("Defaulting")["v1"]
    driver.apply(found)
    made = driver.create(crontab("image: my-awesome-cron-image"))
    assert made["spec"] == {"cronSpec": "5 0 * * *", "image": "my-awesome-cron-image", "replicas": 1}
    driver.delete(found)
    crd = yaml.safe_load(found)
    version = crd["spec"]["versions"][0]
    crd["apiVersion"] = "apiextensions.k8s.io/v1beta1"
    crd["spec"] |= {"preserveUnknownFields": False, "validation": version.pop("schema")}
    text = refused(driver.create, yaml.safe_dump(crd))
    assert "must not be set (cannot set default values in apiextensions.k8s.io/v1beta1 CRDs" in text


def test_finalizers(driver: Driver, client: Client) -> None:
    driver.apply(definitions("Create a CustomResourceDefinition")["v1beta1"])
    held = yaml.safe_load(crontab())
    held["metadata"]["finalizers"] = ["finalizer.stable.example.com"]
    driver.create(yaml.safe_dump(held))
    path = f"/apis/{STABLE}/namespaces/default/crontabs/{MINE}"
    assert "deletionTimestamp" in client.send("DELETE", path).body["metadata"]
    more = client.merge(path, {"metadata": {"finalizers": ["finalizer.stable.example.com", "another.example.com"]}})
    assert more.status == 422
    client.merge(path, {"metadata": {"finalizers": None}})
    assert client.get(path).status == 404


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_printer_columns(kubectl: Kubectl, version: str) -> None:
    kubectl.apply(definitions("Additional printer columns")[version])
    kubectl.apply(crontab('cronSpec: "* * * * *", replicas: 1'))
    shown = kubectl.run("get", "crontab", MINE)
    assert re.fullmatch(rf"NAME +SPEC +REPLICAS +AGE\n{MINE} +\* \* \* \* \* +1 +\d+s\n", shown)


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_subresources(kubectl: Kubectl, client: Client, version: str) -> None:
    kubectl.apply(definitions("Scale subresource")[version])
    kubectl.apply(crontab('cronSpec: "* * * * */5", image: my-awesome-cron-image, replicas: 3'))
    base = f"/apis/{STABLE}/namespaces/default/crontabs/{MINE}"
    assert client.get(f"{base}/status").status == 200
    scaled = kubectl.run("scale", "--replicas=5", f"crontabs/{MINE}")
    assert scaled.endswith("scaled\n")
    assert kubectl.run("get", "crontabs", MINE, "-o", "jsonpath={.spec.replicas}") == "5"
    # a write to the object leaves the status, one to the status all else
    obj = client.get(base).body
    obj["status"] = {"replicas": 5}
    assert "status" not in client.send("PUT", base, obj).body
    obj = client.get(base).body | {"status": {"replicas": 5}}
    obj["spec"]["replicas"] = 9
    written = client.send("PUT", f"{base}/status", obj).body
    assert (written["status"], written["spec"]["replicas"]) == ({"replicas": 5}, 5)
    assert client.get(f"{base}/scale").body["status"]["replicas"] == 5


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_categories(kubectl: Kubectl, version: str) -> None:
    kubectl.apply(definitions("Categories")[version])
    kubectl.apply(crontab())
    assert MINE in kubectl.run("get", "all")


def test_what_is_published_and_not(kubectl: Kubectl) -> None:
    kubectl.apply(definitions("Create a CustomResourceDefinition")["v1beta1"])
    assert "cronSpec" in kubectl.run("explain", "crontab.spec")
    with pytest.raises(Refused, match="someRandomField"):
        kubectl.run("apply", "-f", "-", stdin=crontab("", ", someRandomField: 42"))
    # where unknown fields are kept kubectl must not refuse any
    kubectl.apply(with_schema("{type: object, properties: {spec: {type: object}}}", preserve=True))
    kubectl.apply(crontab("", ", someRandomField: 42"))
    assert kubectl.show(STABLE, "crontabs", MINE)["someRandomField"] == 42


THIRD = """metadata:
  name: cron-tab.mygroup.example.com
apiVersion: extensions/v1beta1
kind: ThirdPartyResource
description: "A specification of a Pod to run on a cron style schedule"
versions:
- name: v1
- name: v2"""
OBJECT = """{
  "metadata": {
    "name": "my-new-cron-object"
  },
  "apiVersion": "mygroup.example.com/v1",
  "kind": "CronTab",
  "cronSpec": "* * * * /5",
  "image":     "my-awesome-cron-image"
}"""
GROUP = "mygroup.example.com"


def test_third_party_resources(driver: Driver, client: Client) -> None:
    """The example of the older document, whose indentation has been lost there."""
    said = {"".join(line.split()) for line in document("004").splitlines()} | {"metadata:", "versions:", "{", "}", "},"}
    for line in (*THIRD.splitlines(), *OBJECT.splitlines()):
        assert "".join(line.split()) in said
    driver.create(THIRD)
    made = driver.create(OBJECT)
    assert {"resourceVersion", "creationTimestamp", "uid"} <= made["metadata"].keys()
    for version in ("v1", "v2"):
        found = driver.show(f"{GROUP}/{version}", "crontabs", MINE)
        assert (found["cronSpec"], found["image"]) == ("* * * * /5", "my-awesome-cron-image")
        listed = client.get(f"/apis/{GROUP}/{version}/namespaces/default/crontabs").body
        assert (listed["kind"], listed["apiVersion"]) == ("CronTabList", f"{GROUP}/{version}")
    changed = yaml.safe_load(OBJECT) | {"image": "another"}
    changed["metadata"]["labels"] = {"tier": "front"}
    driver.apply(yaml.safe_dump(changed))
    assert driver.listed(f"{GROUP}/v1", "crontabs", "tier=front") == [MINE]
    assert driver.listed(f"{GROUP}/v1", "crontabs", "tier=back") == []
    assert driver.show(f"{GROUP}/v1", "crontabs", MINE)["image"] == "another"
    driver.delete(THIRD)
    assert refused(driver.listed, f"{GROUP}/v1", "crontabs")
    driver.create(THIRD)
    assert driver.listed(f"{GROUP}/v1", "crontabs") == []


def test_moving_up_with_kubectl(kubectl: Kubectl) -> None:
    kubectl.create(THIRD)
    kubectl.apply(OBJECT)
    version = {
        "served": True,
        "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
    }
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"crontabs.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"plural": "crontabs", "kind": "CronTab"},
            "versions": [version | {"name": name, "storage": name == "v1"} for name in ("v1", "v2")],
        },
    }
    kubectl.apply(yaml.safe_dump(crd))
    assert kubectl.run("get", "thirdpartyresources", "-o", "name") == ""
    assert kubectl.show(f"{GROUP}/v2", "crontabs", MINE)["image"] == "my-awesome-cron-image"


def test_a_definition_as_projects_published_them(kubectl: Kubectl, client: Client) -> None:
    """Made by the tools of the time: metadata without a type, dates of any type, numbers or percentages."""
    kubectl.apply(PUBLISHED.replace("              uniqueItems: true\n", ""))
    message = violations(kubectl, "rollouts.convert.example.com")
    for place in (
        "properties[metadata].type",
        "properties[at].type",
        "properties[maxSurge].type",
        "openAPIV3Schema.type",
    ):
        assert f"{place}: Required value" in message or f"{place}: Invalid value" in message
    obj = {
        "apiVersion": "convert.example.com/v1alpha1",
        "kind": "Rollout",
        "metadata": {"name": "one"},
        "spec": {"replicas": 3, "maxSurge": "25%", "history": [{"at": None, "more": 1}], "unknown": {"x": [1]}},
    }
    kubectl.apply(yaml.safe_dump(obj))
    assert re.search(r"NAME +DESIRED\none +3\n", kubectl.run("get", "rollouts"))
    shown = kubectl.show("convert.example.com/v1alpha1", "rollouts", "one")
    assert shown["spec"]["unknown"] == {"x": [1]}
    where = "/apis/convert.example.com/v1alpha1/namespaces/default/rollouts/one"
    assert client.merge(f"{where}/status", {"status": {"phase": "Healthy"}}).body["status"] == {"phase": "Healthy"}
    obj["spec"] = {"replicas": -1}
    assert "should be greater than or equal to 0" in refused(kubectl.apply, yaml.safe_dump(obj))
    assert "status" in kubectl.show("convert.example.com/v1alpha1", "rollouts", "one")
