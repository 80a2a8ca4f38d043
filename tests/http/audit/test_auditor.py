"""What is told of real requests."""

from __future__ import annotations

import base64
import contextlib
import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from podless import Server, StartError
from podless.auth.authorizer import Attributes
from podless.http.audit import Audit, auditor
from podless.http.limits import Limits
from podless.structs import protobuf
from podless.structs.structfiles import load_struct
from podless.structs.structs import decode_struct
from tests.admission.conftest import review
from tests.conftest import Client
from tests.webhooks import Webhook

pytestmark = pytest.mark.slow

POLICY = """
apiVersion: audit.k8s.io/v1
kind: Policy
omitManagedFields: true
rules:
- level: None
  nonResourceURLs: [/healthz*, /version]
- level: RequestResponse
  resources: [{group: "", resources: [configmaps]}]
- level: Request
  resources: [{group: "", resources: [namespaces]}, {group: "", resources: ["*"]}]
- level: Metadata
"""
MAPS = "/api/v1/namespaces/default/configmaps"


class Log:
    """A server with an audit log."""

    def __init__(self, server: Server, file: Path) -> None:
        self.server, self.file = server, file
        self.client = Client(server.url, server.token)

    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.file.read_text().splitlines()] if self.file.exists() else []

    def wait(self, count: int) -> list[dict[str, Any]]:
        deadline = time.monotonic() + 60
        while len(found := self.events()) < count:
            assert time.monotonic() < deadline, found
            time.sleep(0.02)
        return found


@pytest.fixture
def log(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Log]:
    policy = tmp_path / "policy.yaml"
    policy.write_text(getattr(request, "param", POLICY))
    file = tmp_path / "audit.log"
    with Server(audit=Audit(file, policy), tls=False) as server:
        running = Log(server, file)
        yield running
        running.client.close()


def test_a_create_is_told_with_its_bodies(log: Log) -> None:
    body = {"metadata": {"name": "one"}, "data": {"a": "b"}}
    log.client.send("POST", f"{MAPS}?fieldManager=me", body, User_Agent="test/1", X_Forwarded_For="10.0.0.1, 10.0.0.2")
    received, complete = log.wait(2)
    assert received["stage"] == "RequestReceived"
    assert received["auditID"] == complete["auditID"]
    assert "responseStatus" not in received
    assert "requestObject" not in received
    times = complete.pop("requestReceivedTimestamp"), complete.pop("stageTimestamp")
    assert times[0] <= times[1]
    assert times[0] == received["requestReceivedTimestamp"]
    answered = complete.pop("responseObject")
    assert answered["metadata"]["uid"]
    assert "managedFields" not in answered["metadata"]
    del complete["auditID"]
    assert complete == {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "RequestResponse",
        "stage": "ResponseComplete",
        "requestURI": f"{MAPS}?fieldManager=me",
        "verb": "create",
        "user": {"username": "admin", "uid": "admin", "groups": ["system:masters", "system:authenticated"]},
        "sourceIPs": ["10.0.0.1", "10.0.0.2", "127.0.0.1"],
        "userAgent": "test/1",
        "objectRef": {"resource": "configmaps", "namespace": "default", "name": "one", "apiVersion": "v1"},
        "responseStatus": {"metadata": {}, "code": 201},
        "requestObject": body,
        "annotations": {"authorization.k8s.io/decision": "allow", "authorization.k8s.io/reason": ""},
    }


def test_bodies_in_protobuf_are_told_as_json(log: Log) -> None:
    struct = load_struct("core/v1", "ConfigMap")
    body = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "one"}, "data": {"a": "b"}}
    sent = protobuf.write_object(struct, decode_struct(struct, body))
    media = {"Content_Type": protobuf.MEDIA, "Accept": protobuf.MEDIA}
    assert log.client.send("POST", MAPS, sent, **media).status == 201
    complete = log.wait(2)[1]
    assert complete["requestObject"] == body
    assert complete["responseObject"]["metadata"]["uid"]
    assert complete["objectRef"]["name"] == "one"
    assert log.client.send("POST", MAPS, sent, **media).status == 409
    status = log.wait(4)[3]["responseStatus"]
    assert (status["reason"], status["message"]) == ("AlreadyExists", 'configmaps "one" already exists')


def test_a_message_of_too_many_values_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    struct = load_struct("core/v1", "Pod")
    containers = b"\x12\x00" * 8000
    size = bytes([len(containers) & 127 | 128, len(containers) >> 7])
    raw = protobuf.wrap_message("v1", "Pod", b"\x12" + size + containers)
    asked = Attributes("create", "", "v1", "pods")
    assert auditor.read_body(raw, protobuf.MEDIA, asked, lambda *_: struct) is None
    monkeypatch.setattr(auditor, "STEPS", 1 << 30)
    assert len(auditor.read_body(raw, protobuf.MEDIA, asked, lambda *_: struct)["spec"]["containers"]) == 8000


def test_yaml_of_too_many_values_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Attributes("create", "", "v1", "configmaps")
    few, many = b"- a\n" * 1000, b"- a\n" * 8000
    assert len(auditor.read_body(few, "application/yaml", asked, lambda *_: None)) == 1000
    assert auditor.read_body(many, "application/yaml", asked, lambda *_: None) is None
    monkeypatch.setattr(auditor, "STEPS", 1 << 30)
    assert len(auditor.read_body(many, "application/yaml", asked, lambda *_: None)) == 8000


def test_a_body_that_is_no_protobuf_is_left_out(log: Log) -> None:
    media = {"Content_Type": protobuf.MEDIA}
    for body in (b"k8s\0", b"k8s\0\xff\xff", b"no envelope"):
        assert log.client.send("POST", MAPS, body, **media).status == 400
    for event in log.wait(6)[1::2]:
        assert "requestObject" not in event
        assert event["responseStatus"]["reason"] == "BadRequest"


def test_what_is_refused_is_told_with_its_reason(log: Log) -> None:
    log.client.get(f"{MAPS}/none")
    nobody = Client(log.server.url, "wrong")
    nobody.get(MAPS)
    nobody.close()
    _, missing, unknown = log.wait(3)
    assert missing["responseStatus"]["reason"] == "NotFound"
    assert unknown["responseStatus"]["code"] == 401
    assert unknown["user"] == {}


def test_rules_decide_what_is_told(log: Log) -> None:
    log.client.get("/healthz")
    log.client.get("/version")
    log.client.get("/api/v1/namespaces/default")
    log.client.get("/openapi/v2")
    found = [(event["level"], event["verb"], event["requestURI"]) for event in log.wait(4)]
    assert found == [("Request", "get", "/api/v1/namespaces/default")] * 2 + [("Metadata", "get", "/openapi/v2")] * 2


def test_secrets_are_not_told(log: Log) -> None:
    secret = {"metadata": {"name": "s"}, "stringData": {"password": "hunter2"}}
    assert log.client.post("/api/v1/namespaces/default/secrets", secret).status == 201
    event = log.wait(2)[-1]
    assert event["level"] == "Metadata"
    assert event["objectRef"]["name"] == "s"
    log.client.post("/api/v1/namespaces/default/secrets", b'{"metadata": {"name": "s"}, "stringData": {"p": "hunter2"')
    log.wait(4)
    assert "hunter2" not in log.file.read_text()


def test_impersonation_is_told(log: Log) -> None:
    log.client.get(MAPS, Impersonate_User="ann")
    event = log.wait(2)[-1]
    assert event["user"]["username"] == "admin"
    assert event["impersonatedUser"]["username"] == "ann"
    assert event["responseStatus"]["code"] == 403
    assert event["annotations"]["authorization.k8s.io/decision"] == "forbid"


def test_a_watch_is_told_when_it_starts_and_when_it_ends(log: Log) -> None:
    with contextlib.suppress(json.JSONDecodeError):  # of an answer without events
        log.client.get(f"{MAPS}?watch=true&timeoutSeconds=1")
    assert [(event["stage"], event["verb"]) for event in log.wait(3)] == [
        ("RequestReceived", "watch"),
        ("ResponseStarted", "watch"),
        ("ResponseComplete", "watch"),
    ]


def test_a_bad_policy_stops_the_start(tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text("kind: Policy")
    with pytest.raises(StartError, match="not a Policy"), Server(audit=Audit(tmp_path / "log", policy)):
        pass


def test_a_folder_that_is_not_there_stops_the_start(tmp_path: Path) -> None:
    with pytest.raises(StartError, match="does not exist"), Server(audit=Audit(tmp_path / "none" / "log")):
        pass


def test_hangup_begins_the_file_anew(serve: Any, tmp_path: Path) -> None:
    file, moved = tmp_path / "audit.log", tmp_path / "moved.log"
    running = serve("--audit-log-path", str(file), "--insecure-http")
    client = Client(running.url, running.token)
    client.get("/version")
    file.rename(moved)
    running.popen.send_signal(signal.SIGHUP)
    deadline = time.monotonic() + 60
    while not file.exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    client.get("/api")
    client.close()
    running.popen.terminate()
    running.popen.wait()
    assert [json.loads(line)["requestURI"] for line in moved.read_text().splitlines()] == ["/version"]
    assert [json.loads(line)["requestURI"] for line in file.read_text().splitlines()] == ["/api"]


def test_what_is_too_much_is_told(tmp_path: Path) -> None:
    file = tmp_path / "audit.log"
    with Server(audit=Audit(file), limits=Limits(in_flight=0, queue=0), tls=False) as server:
        log = Log(server, file)
        answer = log.client.get("/version")
        assert (answer.status, answer.headers["Retry-After"]) == (429, "1")
        assert answer.body == b"Too many requests, please try again later.\n"
        assert log.wait(1)[0]["responseStatus"]["code"] == 429
        log.client.close()


def test_what_policies_annotate_is_told(log: Log) -> None:
    admission = "/apis/admissionregistration.k8s.io/v1"
    rules = [{"apiGroups": [""], "apiVersions": ["*"], "operations": ["CREATE"], "resources": ["configmaps"]}]
    policy = {
        "metadata": {"name": "annotating"},
        "spec": {
            "matchConstraints": {"resourceRules": rules},
            "auditAnnotations": [{"key": "size", "valueExpression": "string(object.data.size())"}],
            "validations": [{"expression": "object.data.size() < 2", "message": "too many"}],
        },
    }
    binding = {
        "metadata": {"name": "annotating"},
        "spec": {"policyName": "annotating", "validationActions": ["Audit"]},
    }
    assert log.client.post(f"{admission}/validatingadmissionpolicies", policy).status == 201
    assert log.client.post(f"{admission}/validatingadmissionpolicybindings", binding).status == 201
    assert log.client.post(MAPS, {"metadata": {"name": "two"}, "data": {"a": "", "b": ""}}).status == 201
    annotations = log.wait(6)[-1]["annotations"]
    assert annotations["annotating/size"] == "2"
    assert "too many" in annotations["validation.policy.admission.k8s.io/validation_failure"]
    assert annotations["authorization.k8s.io/decision"] == "allow"


def test_a_long_user_agent_is_cut(log: Log) -> None:
    log.client.send("GET", MAPS, None, User_Agent="x" * 5000)
    assert log.wait(2)[-1]["userAgent"] == "x" * 1024 + "...TRUNCATED"


@pytest.mark.parametrize(
    "name", ["access_token", "Access_Token", "access%5Ftoken", "%61ccess_token", "a=b;access_token"]
)
def test_a_token_in_the_query_is_not_told(log: Log, name: str) -> None:
    log.client.get(f"{MAPS}?limit=1&{name}=s3cret;x&labelSelector=a%3Db")
    event = log.wait(2)[-1]
    assert event["requestURI"] == f"{MAPS}?limit=1&{name.partition('=')[0]}=[masked]&labelSelector=a%3Db"
    assert log.server.requests[-1].path == event["requestURI"]
    assert "s3cret" not in log.file.read_text()


def test_a_reader_of_standard_output_that_stands_still_holds_up_nothing(serve: Any) -> None:
    process = serve("--audit-log-path", "-")
    client = Client(process.url, process.token)
    long = "x" * 4000
    assert {client.get(f"/api/v1/namespaces?fieldManager={long}").status for _ in range(100)} == {200}
    assert b"\napiserver_audit_event_total 100\n" in client.get("/metrics").body
    assert b'\napiserver_audit_error_total{plugin="buffered"} 0\n' in client.get("/metrics").body
    client.close()
    process.popen.send_signal(signal.SIGTERM)
    assert process.popen.wait(60) == 0


def test_a_status_is_told_at_all_levels(log: Log) -> None:
    services = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
    log.client.post(services, {"metadata": {"name": "one"}, "rules": []})
    log.client.send("DELETE", f"{services}/one")
    event = log.wait(4)[3]
    uid = event["responseStatus"]["details"].pop("uid")
    details = {"name": "one", "group": "rbac.authorization.k8s.io", "kind": "clusterroles"}
    assert uid
    assert event["responseStatus"] == {"metadata": {}, "status": "Success", "details": details, "code": 200}
    assert event["level"] == "Metadata"


@pytest.mark.parametrize("given", ["5d1d3d6c-7b1c-4f0e-8f3e-1f2a3b4c5d6e", "mine"])
def test_the_audit_id_of_a_client_is_kept_and_answered(log: Log, given: str) -> None:
    answer = log.client.send("POST", MAPS, {"metadata": {"name": "one"}}, Audit_ID=given)
    assert (answer.status, answer.headers["Audit-Id"]) == (201, given)
    assert {event["auditID"] for event in log.wait(2)} == {given}


def test_what_webhooks_do_is_annotated_by_their_place_in_the_list(log: Log) -> None:
    patch = base64.b64encode(b'[{"op":"add","path":"/data","value":{"a":"b"}}]').decode()
    answers = {
        "uid": "",
        "allowed": True,
        "patch": patch,
        "patchType": "JSONPatch",
        "auditAnnotations": {"k": "v", "a/b": "c"},
    }
    hook = Webhook(lambda call: {**review(call), "response": {**answers, "uid": call["request"]["uid"]}})
    webhooks = [
        {
            "name": f"{resource}.example.com",
            "clientConfig": hook.config,
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": [resource], "operations": ["CREATE"]}],
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
        }
        for resource in ("pods", "configmaps")
    ]
    kind = "MutatingWebhookConfiguration"
    log.client.post(
        f"/apis/admissionregistration.k8s.io/v1/{kind.lower()}s", {"metadata": {"name": "w"}, "webhooks": webhooks}
    )
    log.client.post(MAPS, {"metadata": {"name": "one"}})
    hook.close()
    noted = {"configuration": "w", "webhook": "configmaps.example.com"}
    annotations = log.wait(4)[3]["annotations"]
    shown = {key: json.loads(text) for key, text in annotations.items() if "webhook" in key}
    assert shown == {
        "mutation.webhook.admission.k8s.io/round_0_index_1": noted | {"mutated": True},
        "patch.webhook.admission.k8s.io/round_0_index_1": noted
        | {"patch": [{"op": "add", "path": "/data", "value": {"a": "b"}}], "patchType": "JSONPatch"},
    }
    assert [key for key in annotations if key.startswith("configmaps")] == ["configmaps.example.com/k"]
