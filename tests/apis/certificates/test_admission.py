"""The rights that trust bundles and requests of pods need in the name of a signer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from podless import Server
from tests.apis.certificates.pairs import make_certificate, make_request
from tests.conformance.wire import Client

GROUP = "certificates.k8s.io"
BUNDLES = f"/apis/{GROUP}/v1/clustertrustbundles"
REQUESTS = f"/apis/{GROUP}/v1/namespaces/default/podcertificaterequests"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
ALL = {"verbs": ["*"], "apiGroups": [GROUP], "resources": ["clustertrustbundles", "podcertificaterequests/status"]}


def _send(client: Client, method: str, path: str, body: Any, media: str = "application/json") -> tuple[int, Any]:
    status, _, raw = client.send(method, path, body, {"Content-Type": media})
    return status, json.loads(raw)


@pytest.mark.parametrize("allowed", [(), ("example.com/s",), ("example.com/*",)])
def test_who_writes_for_a_signer_needs_its_right(allowed: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "tokens.csv").write_text("alice,alice,alice\n")
    rules = [ALL]
    if allowed:
        verbs = ["attest", "sign"]
        rules.append({"verbs": verbs, "apiGroups": [GROUP], "resources": ["signers"], "resourceNames": [*allowed]})
    role = {"metadata": {"name": "r"}, "rules": rules}
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "r"}
    binding = {"metadata": {"name": "b"}, "roleRef": reference, "subjects": [{"kind": "User", "name": "alice"}]}
    names = {"podName": "p", "podUID": "u", "serviceAccountName": "s", "serviceAccountUID": "v"}
    spec = names | {"signerName": "example.com/s", "nodeName": "n", "nodeUID": "w"}
    spec["stubPKCS10Request"] = make_request(ec.generate_private_key(ec.SECP256R1()))
    condition = {"type": "Denied", "status": "True", "lastTransitionTime": "2020-01-01T00:00:00Z", "reason": "R"}
    options: dict[str, Any] = {"tls": False, "kubernetes_version": "1.37", "default_accounts": False}
    with Server(token_file=tmp_path / "tokens.csv", **options) as server:
        admin, alice = Client(server.url, server.token), Client(server.url, "alice")
        assert _send(admin, "POST", f"{RBAC}/clusterroles", role)[0] == 201
        assert _send(admin, "POST", f"{RBAC}/clusterrolebindings", binding)[0] == 201
        assert _send(admin, "POST", REQUESTS, {"metadata": {"name": "a"}, "spec": spec})[0] == 201
        bundle = {"metadata": {"name": "example.com:s:a"}, "spec": {"signerName": "example.com/s"}}
        bundle["spec"]["trustBundle"] = make_certificate()
        status, made = _send(alice, "POST", BUNDLES, bundle)
        change = {"status": {"conditions": [condition | {"message": ""}]}}
        answered, told = _send(alice, "PATCH", f"{REQUESTS}/a/status", change, "application/merge-patch+json")
    if allowed:
        assert (status, answered) == (201, 200), (made, told)
    else:
        assert (status, answered) == (403, 422), (made, told)
        assert made["message"].endswith('user not permitted to attest for signerName "example.com/s"')
        (cause,) = told["details"]["causes"]
        assert cause["message"] == 'Forbidden: User "alice" is not permitted to "sign" for signer "example.com/s"'


@pytest.mark.parametrize(("release", "status"), [("1.36", 404), ("1.37", 200)])
def test_the_kinds_are_served_from_their_release_on(release: str, status: int) -> None:
    with Server(tls=False, kubernetes_version=release) as server:
        client = Client(server.url, server.token)
        for path in (BUNDLES, REQUESTS, "/apis/storagemigration.k8s.io/v1/storageversionmigrations"):
            assert client.send("GET", path)[0] == status
