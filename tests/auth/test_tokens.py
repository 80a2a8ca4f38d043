"""Tokens of service accounts: made, known, bound, and no good any more."""

from __future__ import annotations

import asyncio
import base64
import json
import time
import uuid
from collections.abc import Coroutine, Iterator, Sequence
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from hypothesis import given
from hypothesis import strategies as st

from podless import Server, StartError
from podless.auth.accounts import SECRET, ServiceAccountTokens, make_secret
from podless.auth.authenticate import AUDIENCE, Authenticator
from podless.auth.tokens import StaticTokens, TokenVerdict, read_issuer
from podless.auth.user import User
from podless.cache.cache import Cache
from podless.kinds.conversion import Converter
from podless.kinds.registry import Registry
from podless.remote import WebhookClient as Remote
from podless.store.sqlite import SQLiteStore
from podless.verbs.call import API
from podless.verbs.storage import read_or_create_value
from tests.conftest import Client

ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"
SECRETS = "/api/v1/namespaces/default/secrets"
ISSUER = "https://kubernetes.default.svc"
REVIEWS = "/apis/authentication.k8s.io/v1"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("data")) as server:
        yield server


@pytest.fixture
def admin(served: Server) -> Client:
    return Client(served.url, served.token)


def ask(client: Client, name: str, **spec: Any) -> Any:
    return client.send("POST", f"{ACCOUNTS}/{name}/token", {"spec": spec})


def make(client: Client, name: str, **spec: Any) -> str:
    client.send("POST", ACCOUNTS, {"metadata": {"name": name}})
    token: str = ask(client, name, **spec).body["status"]["token"]
    return token


def who(server: Server, token: str) -> Any:
    return Client(server.url, token).send("POST", f"{REVIEWS}/selfsubjectreviews", {})


def test_a_token_is_its_account(served: Server, admin: Client) -> None:
    token = make(admin, "robot")
    known = who(served, token).body["status"]["userInfo"]
    assert known["username"] == "system:serviceaccount:default:robot"
    assert known["uid"] == admin.send("GET", f"{ACCOUNTS}/robot").body["metadata"]["uid"]
    identifier = jwt.decode(token, options={"verify_signature": False})["jti"]
    assert known["extra"] == {"authentication.kubernetes.io/credential-id": [f"JTI={identifier}"]}


def test_a_token_ends_with_its_account_even_if_there_is_a_new_one_of_the_name(served: Server, admin: Client) -> None:
    token = make(admin, "short-lived")
    assert who(served, token).status == 201
    admin.send("DELETE", f"{ACCOUNTS}/short-lived")
    assert who(served, token).status == 401
    assert who(served, make(admin, "short-lived")).status == 201
    assert who(served, token).status == 401


def test_a_token_ends_with_the_secret_that_it_is_bound_to(served: Server, admin: Client) -> None:
    admin.send("POST", SECRETS, {"metadata": {"name": "bond"}})
    bond = {"kind": "Secret", "apiVersion": "v1", "name": "bond"}
    token = make(admin, "bound", boundObjectRef=bond)
    assert who(served, token).status == 201
    admin.send("DELETE", f"{SECRETS}/bond")
    assert who(served, token).status == 401


def test_what_a_token_can_be_bound_to(admin: Client) -> None:
    admin.send("POST", ACCOUNTS, {"metadata": {"name": "binder"}})
    admin.send("POST", SECRETS, {"metadata": {"name": "there"}})
    secret = {"kind": "Secret", "apiVersion": "v1", "name": "there"}
    assert ask(admin, "binder", boundObjectRef=secret | {"uid": "other"}).status == 409
    assert ask(admin, "binder", boundObjectRef=secret | {"name": "not-there"}).status == 404
    missing = ask(admin, "binder", boundObjectRef={"kind": "Pod", "apiVersion": "v1", "name": "p"})
    assert (missing.status, missing.body["message"]) == (404, 'pods "p" not found')
    refused = ask(admin, "binder", boundObjectRef={"kind": "Lease", "apiVersion": "v1", "name": "p"})
    assert (refused.status, refused.body["message"]) == (400, "cannot bind token to object of type /v1, Kind=Lease")


def test_a_token_that_is_bound_to_a_pod_says_so_and_ends_with_it(served: Server, admin: Client) -> None:
    pods = "/api/v1/namespaces/default/pods"
    node = admin.post("/api/v1/nodes", {"metadata": {"name": "there"}}).body["metadata"]["uid"]
    admin.post(ACCOUNTS, {"metadata": {"name": "runs"}})
    containers = [{"name": "c", "image": "i"}]
    spec = {"serviceAccountName": "runs", "nodeName": "there", "containers": containers}
    pod = admin.post(pods, {"metadata": {"name": "p"}, "spec": spec}).body["metadata"]["uid"]
    bond = {"kind": "Pod", "apiVersion": "v1", "name": "p"}
    other = ask(admin, "default", boundObjectRef=bond)
    text = 'cannot bind token for serviceaccount "default" to pod running with different serviceaccount name.'
    assert (other.status, other.body["message"]) == (400, text)
    assert ask(admin, "runs", boundObjectRef=bond | {"uid": "other"}).status == 409
    token = make(admin, "runs", boundObjectRef=bond)
    claims = jwt.decode(token, options={"verify_signature": False})["kubernetes.io"]
    assert (claims["pod"], claims["node"]) == ({"name": "p", "uid": pod}, {"name": "there", "uid": node})
    extra = who(served, token).body["status"]["userInfo"]["extra"]
    assert {name.partition("/")[2]: values for name, values in extra.items() if "credential" not in name} == {
        "node-name": ["there"],
        "node-uid": [node],
        "pod-name": ["p"],
        "pod-uid": [pod],
    }
    admin.send("DELETE", "/api/v1/nodes/there")  # which is only named
    assert admin.send("DELETE", f"{pods}/p").body["metadata"]["deletionGracePeriodSeconds"] == 30
    assert who(served, token).status == 201  # until the grace period is over
    admin.send("DELETE", f"{pods}/p?gracePeriodSeconds=0")
    assert who(served, token).status == 401


def test_a_token_that_is_bound_to_a_node_ends_with_it(served: Server, admin: Client) -> None:
    bond = {"kind": "Node", "apiVersion": "v1", "name": "bonds"}
    admin.post(ACCOUNTS, {"metadata": {"name": "rests"}})
    assert ask(admin, "rests", boundObjectRef=bond).body["message"] == 'nodes "bonds" not found'
    uid = admin.post("/api/v1/nodes", {"metadata": {"name": "bonds"}}).body["metadata"]["uid"]
    token = make(admin, "rests", boundObjectRef=bond)
    extra = who(served, token).body["status"]["userInfo"]["extra"]
    assert extra["authentication.kubernetes.io/node-uid"] == [uid]
    admin.send("DELETE", "/api/v1/nodes/bonds")
    admin.post("/api/v1/nodes", {"metadata": {"name": "bonds"}})
    assert who(served, token).status == 401


def test_a_token_ends_in_time(served: Server, admin: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    token = make(admin, "timed", expirationSeconds=600)
    assert who(served, token).status == 201
    later = time.time() + 601
    monkeypatch.setattr("podless.runtime.clock.system.time", lambda: later)
    assert who(served, token).status == 401


def test_a_token_for_others_is_not_for_this_server(served: Server, admin: Client) -> None:
    token = make(admin, "outward", audiences=["https://others.example.com"])
    assert who(served, token).status == 401
    spec = {"token": token, "audiences": ["https://others.example.com", "https://more.example.com"]}
    reviewed = admin.send("POST", f"{REVIEWS}/tokenreviews", {"spec": spec}).body["status"]
    assert reviewed["authenticated"]
    assert reviewed["audiences"] == ["https://others.example.com"]
    refused = admin.send("POST", f"{REVIEWS}/tokenreviews", {"spec": {"token": token}}).body["status"]
    assert refused == {"user": {}, "error": "invalid bearer token"}


def test_signatures_can_be_checked_by_others(served: Server, admin: Client) -> None:
    token = make(admin, "checked")
    found = Client(served.url, token).send("GET", "/.well-known/openid-configuration").body
    assert found["issuer"] == ISSUER
    keys = Client(served.url, token).send("GET", found["jwks_uri"].removeprefix(served.url)).body["keys"]
    key = jwt.PyJWK(keys[0])
    assert jwt.get_unverified_header(token)["kid"] == key.key_id
    assert jwt.decode(token, key, ["ES256"], audience=ISSUER)["sub"] == "system:serviceaccount:default:checked"


def test_forged_tokens_are_nobodys(served: Server, admin: Client) -> None:
    token = make(admin, "forged")
    head, body, signature = token.split(".")
    plain = jwt.decode(token, options={"verify_signature": False})
    other = base64.urlsafe_b64encode(json.dumps(plain | {"sub": "x"}).encode()).decode().rstrip("=")
    forgeries = [
        jwt.encode(plain, "secret" * 10, "HS256"),
        jwt.encode(plain, "", "none"),
        f"{head}.{body}.",
        f"{head}.{body}.{signature[:-4]}AAAA",
        f"{head}.{other}.{signature}",
        f"{base64.urlsafe_b64encode(b'[' * 9000).decode()}.{body}.{signature}",
    ]
    for forgery in forgeries:
        assert who(served, forgery).status == 401, forgery[:80]
    assert who(served, token).status == 201


class _NamedTokens:
    """Tokens that name no issuer: each is the name of its user."""

    def knows_issuer(self, issuer: str) -> bool:
        return not issuer

    async def verify_token(self, token: str, audiences: Sequence[str]) -> TokenVerdict:
        return TokenVerdict(User(token), (AUDIENCE,)) if token.isalpha() else TokenVerdict(None)


async def test_a_further_authenticator_can_verify_tokens_that_name_no_issuer() -> None:
    authenticator = Authenticator(StaticTokens({}), token_authenticators=[_NamedTokens()])
    found = authenticator.authenticate({"authorization": "Bearer jane"}, None)
    assert isinstance(found, Coroutine)
    assert (await found).name == "jane"
    assert (await authenticator.review_token("1", [AUDIENCE])).user is None


def test_the_key_is_kept_and_is_the_owners_alone(tmp_path: Path) -> None:
    with Server(tmp_path) as server:
        token = make(Client(server.url, server.token), "robot")
    assert (tmp_path / "podless.db").stat().st_mode & 0o777 == 0o600
    with Server(tmp_path) as server:
        assert who(server, token).status == 201


def test_a_key_of_earlier_releases_is_taken_over(tmp_path: Path) -> None:
    former = ec.generate_private_key(ec.SECP256R1())
    pem = former.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (tmp_path / "accounts.key").write_bytes(pem)
    for _ in range(2):
        with Server(tmp_path) as server:
            token = make(Client(server.url, server.token), f"robot{uuid.uuid4().hex[:8]}")
            assert jwt.decode(token, former.public_key(), ["ES256"], audience=ISSUER)
            assert who(server, token).status == 201
        assert not (tmp_path / "accounts.key").exists()


def test_a_former_key_that_is_none_is_not_thrown_away(tmp_path: Path) -> None:
    (tmp_path / "accounts.key").write_text("nonsense")
    with pytest.raises(StartError, match="not a P-256 key in PEM"), Server(tmp_path):
        pass
    assert (tmp_path / "accounts.key").read_text() == "nonsense"


async def test_servers_that_start_at_once_have_one_key() -> None:
    store = SQLiteStore()
    await store.open()
    found = []
    for _ in range(2):
        cache = Cache(store)
        await cache.open()
        api = API(store, cache, Registry(), Converter(Remote()))
        found.append(read_or_create_value(api, SECRET, lambda: make_secret(Path("no such file"))))
    assert len(set(await asyncio.gather(*found))) == 1
    await store.close()


@given(st.text() | st.from_regex(r"[\w-]*\.[\w-]*\.[\w-]*", fullmatch=True))
def test_no_text_is_too_strange_for_a_token(text: str) -> None:
    assert isinstance(read_issuer(text), str)


KEY = make_secret(Path("no such file"))
PART = st.binary(max_size=60)


@given(head=PART, body=PART, signature=PART)
async def test_nothing_that_we_have_not_signed_is_ours(head: bytes, body: bytes, signature: bytes) -> None:
    text = ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in (head, body, signature))
    accounts = ServiceAccountTokens(KEY, ISSUER, None, None)  # type: ignore[arg-type]
    assert (await accounts.verify_token(text, (ISSUER,))).user is None
