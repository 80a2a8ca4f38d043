"""Service account tokens: podless signs and verifies them.

A token is bound to the account, by its uid, and optionally to a Secret, Pod or Node; it is valid until it expires or
one of these is deleted. The token in a Secret of type kubernetes.io/service-account-token does not expire, and is valid
while the Secret contains it. The signature is verified once per token; expiry and the existence of account, Secret, Pod
and Node are checked for every request. Source: "Service account tokens" of the Kubernetes documentation, and
kubernetes/pkg/serviceaccount/claims.go.
"""

from __future__ import annotations

import base64
import hashlib
import logging
import secrets as random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from podless.auth.certificates import CREDENTIAL
from podless.auth.tokens import TokenVerdict, read_issuer
from podless.auth.user import account_user
from podless.cache.entry import Entry
from podless.cache.watchcache import WatchCache
from podless.codec import gotime
from podless.meta import objectmeta
from podless.runtime import clock
from podless.store import StoreError, keys

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

log = logging.getLogger("podless")

ALGORITHM = "ES256"
SECRET = f"{keys.OWN}keys/accounts"  # the signing key, shared by all servers of a store
# the order of P-256; private keys are smaller
_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
_CLAIM = "kubernetes.io"
_SECRET_ISSUER = "kubernetes/serviceaccount"  # the issuer of tokens in Secrets
_KEPT_CLAIM = "kubernetes.io/serviceaccount/"
_INVALID = "kubernetes.io/legacy-token-invalid-since"  # a label of Secrets with an invalidated token
_NO_USER = TokenVerdict(None)
_EXTRA = "authentication.kubernetes.io/"
_LEEWAY = 60  # seconds that a bound token stays valid after its Pod or Node is due to go


class BadKey(StoreError):
    """The signing key cannot be used. The text is one line for the user."""


class BoundObject(NamedTuple):
    """An object that a token is bound to, or only mentions. uid: "" if the object does not exist."""

    name: str
    uid: str

    def make_claim(self) -> dict[str, str]:
        """Return the claim for this object."""
        return {"name": self.name, "uid": self.uid} if self.uid else {"name": self.name}

    def is_live(self, collection: WatchCache, namespace: str) -> bool:
        """Return whether the object, with the same uid, exists and is not being deleted."""
        entry = collection.get(collection.keys.key(namespace, self.name))
        return entry is not None and account_uid(entry) == self.uid

    def is_running(self, collection: WatchCache, namespace: str) -> bool:
        """Return whether the Pod or Node, with the same uid, exists, and its deletion is not overdue by a minute."""
        entry = collection.get(collection.keys.key(namespace, self.name))
        if entry is None:
            return False
        uid, until = _read_lifetime(entry)
        return uid == self.uid and (until is None or clock.time() < until + _LEEWAY)


def _read_lifetime(entry: Entry) -> tuple[str, float | None]:
    """Return the object's uid and the Unix time of its deletion, None for never; cached."""
    lifetimes: tuple[str, float | None] | None = entry.forms.get("lifetime")
    if lifetimes is None:
        metadata = entry.decode()["metadata"]
        ends = gotime.parse_instant(metadata["deletionTimestamp"])[0] / 10**9 if entry.terminating else None
        lifetimes = entry.forms["lifetime"] = metadata.get("uid", ""), ends
    return lifetimes


def account_uid(entry: Entry) -> str:
    """Return the object's uid, cached; "" if it is being deleted."""
    uid: str | None = entry.forms.get("identity")
    if uid is None:
        uid = entry.forms["identity"] = "" if entry.terminating else entry.decode()["metadata"].get("uid", "")
    return uid


def _read_token(entry: Entry) -> str:
    """Return the token in a Secret, in base64, cached; "" if the Secret is being deleted or invalidated."""
    token: str | None = entry.forms.get("token")
    if token is None:
        ended = entry.terminating or _INVALID in entry.labels
        token = entry.forms["token"] = "" if ended else (entry.decode().get("data") or {}).get("token") or ""
    return token


class ServiceAccountTokens:
    """Signs and verifies tokens for service accounts.

    secret: the signing key, from `make_secret`. pods, nodes: None if tokens cannot be bound to them.
    """

    def __init__(
        self,
        secret: bytes,
        issuer: str,
        accounts: WatchCache,
        secrets: WatchCache,
        pods: WatchCache | None = None,
        nodes: WatchCache | None = None,
    ) -> None:
        self.issuer = issuer
        self._secret = secret
        self._accounts = accounts
        self._secrets = secrets
        self._running = {"pod": pods, "node": nodes}
        self._key: EllipticCurvePrivateKey | None = None

    def knows_issuer(self, issuer: str) -> bool:
        """Return whether tokens of this issuer can be ours."""
        return issuer in (self.issuer, _SECRET_ISSUER)

    @staticmethod
    def load_libraries() -> None:
        """Import the libraries for signing, which takes 100 ms."""
        import jwt
        from cryptography.hazmat.primitives.asymmetric import ec

        key = ec.derive_private_key(1, ec.SECP256R1())
        jwt.encode({}, key, ALGORITHM, headers={"kid": _key_id(key)})

    @property
    def is_loaded(self) -> bool:
        """Whether `load_libraries` has completed."""
        return self._key is not None

    def issue_token(
        self, account: Entry, uid: str, audiences: Sequence[str], seconds: int, bound: Mapping[str, BoundObject]
    ) -> str:
        """Return a new token for an account. seconds: its validity. Raises BadKey.

        bound: the object that it is bound to, under "secret", "pod" or "node". A node next to a pod is only mentioned.
        """
        now = int(clock.time())
        claim: dict[str, Any] = {"namespace": account.namespace}
        claim |= {kind: bound[kind].make_claim() for kind in ("node", "pod", "secret") if kind in bound}
        claim["serviceaccount"] = {"name": account.name, "uid": uid}
        claims = {
            "aud": list(audiences),
            "exp": now + seconds,
            "iat": now,
            "iss": self.issuer,
            "jti": objectmeta.make_uid(),
            _CLAIM: claim,
            "nbf": now,
            "sub": account_user(account.namespace, account.name).name,
        }
        return self._sign_claims(claims)

    def find_secret_token(self, namespace: str, account: BoundObject, secret: str) -> str:
        """Return the token to store in an account's Secret. Raises BadKey."""
        claim = {
            "namespace": namespace,
            "secret.name": secret,
            "service-account.name": account.name,
            "service-account.uid": account.uid,
        }
        subject = account_user(namespace, account.name).name
        return self._sign_claims(
            {"iss": _SECRET_ISSUER, **{f"{_KEPT_CLAIM}{name}": claim[name] for name in claim}, "sub": subject}
        )

    def _sign_claims(self, claims: dict[str, Any]) -> str:
        import jwt

        key = self._signing_key()
        return jwt.encode(claims, key, ALGORITHM, headers={"kid": _key_id(key), "typ": None})

    async def verify_token(self, token: str, audiences: Sequence[str]) -> TokenVerdict:
        """Verify a token. The user of the verdict is None if the token is invalid."""
        try:
            claims = self._verify_signature(token, audiences)
        except BadKey as error:
            log.error("serviceaccounts: a token was not verified: %s", error)
            claims = None
        if claims is None:
            return _NO_USER
        for collection in (self._accounts, self._secrets):
            if not collection.loaded:
                await collection.load()
        for kind, running in self._running.items():
            if running is not None and not running.loaded and kind in claims.get(_CLAIM, ()):
                await running.load()
        if claims["iss"] == _SECRET_ISSUER:
            return self._verdict_of_kept(token, claims, audiences)
        return self._make_verdict(claims, audiences)

    def _verify_signature(self, token: str, audiences: Sequence[str]) -> dict[str, Any] | None:
        import jwt

        is_secret_token = read_issuer(token) == _SECRET_ISSUER
        required = ["iss", "sub"] if is_secret_token else ["exp", "iat", "iss", "sub", "aud"]
        # podless set these times by its own clock, so it need not check them
        options: Any = {"require": required, "verify_iat": False, "verify_nbf": False}
        key = self._signing_key().public_key()
        try:
            claims: dict[str, Any] = jwt.decode(
                token,
                key,
                [ALGORITHM],
                options,
                audience=None if is_secret_token else list(audiences),
                issuer=_SECRET_ISSUER if is_secret_token else self.issuer,
            )
        except (jwt.PyJWTError, ValueError, TypeError, RecursionError):
            return None
        return claims

    def _make_verdict(self, claims: dict[str, Any], audiences: Sequence[str]) -> TokenVerdict:
        # the signature is ours, so the claims have the expected form
        claim = claims[_CLAIM]
        namespace, until = claim["namespace"], claims["exp"]
        account = BoundObject(claim["serviceaccount"]["name"], claim["serviceaccount"]["uid"])
        secret, pod, node = (
            BoundObject(claim[kind]["name"], claim[kind].get("uid", "")) if kind in claim else None
            for kind in ("secret", "pod", "node")
        )
        pods, nodes = self._running.values()

        def is_valid() -> bool:
            if clock.time() >= until or not account.is_live(self._accounts, namespace):
                return False
            if secret is not None:
                return secret.is_live(self._secrets, namespace)
            if pod is not None:
                return pods is not None and pod.is_running(pods, namespace)
            return node is None or (nodes is not None and node.is_running(nodes, ""))

        if not is_valid():
            return _NO_USER
        extra = {CREDENTIAL: (f"JTI={claims['jti']}",)}
        for kind, bound in (("node", node), ("pod", pod)):
            if bound is not None:
                extra |= {f"{_EXTRA}{kind}-{name}": (value,) for name, value in bound.make_claim().items()}
        user = account_user(namespace, account.name, account.uid, extra)
        return TokenVerdict(user, tuple(bound for bound in audiences if bound in claims["aud"]), is_valid)

    def _verdict_of_kept(self, token: str, claims: dict[str, Any], audiences: Sequence[str]) -> TokenVerdict:
        claim = {name.removeprefix(_KEPT_CLAIM): value for name, value in claims.items()}
        namespace, secret = claim["namespace"], claim["secret.name"]
        account = BoundObject(claim["service-account.name"], claim["service-account.uid"])
        data = base64.b64encode(token.encode()).decode()
        secret_key = self._secrets.keys.key(namespace, secret)

        def is_valid() -> bool:
            entry = self._secrets.get(secret_key)
            return entry is not None and _read_token(entry) == data and account.is_live(self._accounts, namespace)

        # tokens in Secrets have no audiences: they are for this server
        fitting = tuple(audience for audience in audiences if audience == self.issuer)
        if not fitting or not is_valid():
            return _NO_USER
        return TokenVerdict(account_user(namespace, account.name, account.uid), fitting, is_valid)

    def make_key_set(self) -> dict[str, Any]:
        """Return the public key as a JSON Web Key Set. Raises BadKey."""
        key = self._signing_key()
        numbers = key.public_key().public_numbers()
        point = {
            name: _encode_base64(value.to_bytes(32, "big")) for name, value in (("x", numbers.x), ("y", numbers.y))
        }
        return {"keys": [{"use": "sig", "kty": "EC", "kid": _key_id(key), "crv": "P-256", "alg": ALGORITHM, **point}]}

    def _signing_key(self) -> EllipticCurvePrivateKey:
        """Return the private key, derived at first use."""
        if self._key is None:
            from cryptography.hazmat.primitives.asymmetric import ec

            try:
                self._key = ec.derive_private_key(int(self._secret, 16), ec.SECP256R1())
            except ValueError:
                raise BadKey(f"{SECRET} in the store is not a P-256 key") from None
        return self._key


def make_secret(former: Path) -> bytes:
    """Return a new signing key: a P-256 private key as a hexadecimal number.

    former: the PEM file of earlier releases; its key is used if it exists. Raises BadKey.
    """
    if not former.exists():
        return f"{1 + random.randbelow(_ORDER - 1):064x}".encode()
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    try:
        key = serialization.load_pem_private_key(former.read_bytes(), None)
    except OSError as error:
        raise BadKey(f"{former}: {error.strerror}") from None
    except ValueError:
        key = None
    if not isinstance(key, ec.EllipticCurvePrivateKey) or not isinstance(key.curve, ec.SECP256R1):
        raise BadKey(f"{former}: not a P-256 key in PEM; remove it to create a new key, which invalidates all tokens")
    return f"{key.private_numbers().private_value:064x}".encode()


def _key_id(key: EllipticCurvePrivateKey) -> str:
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    der = key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return _encode_base64(hashlib.sha256(der).digest())


def _encode_base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
