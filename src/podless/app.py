"""Builds a server from its settings: the only place that constructs."""

from __future__ import annotations

import ipaddress
import os
import secrets
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from podless.admission import Admission, Step
from podless.admission.escalation import Escalation
from podless.admission.generations import Generations
from podless.admission.lifecycle import NamespaceLifecycle
from podless.admission.mutating import MutatingPolicies
from podless.admission.quota import ObjectQuota
from podless.admission.reading import ParameterReading
from podless.admission.state import State
from podless.admission.validating import ValidatingPolicies
from podless.admission.webhooks import MutatingWebhooks, ValidatingWebhooks
from podless.auth import accounts
from podless.auth.access import Access, BadAccess
from podless.auth.accounts import Accounts
from podless.auth.authenticate import AUDIENCE, Authenticator
from podless.auth.authorizer import AllowAll, Authorizer
from podless.auth.kubeconfig import by_token, kubeconfig
from podless.auth.oidc import Provider
from podless.auth.rbac import RBAC
from podless.auth.tokens import Tokens, read_file
from podless.auth.user import ADMIN, User
from podless.cache.watchcache import Cache
from podless.controllers import contents
from podless.controllers.apiservices import APIServices
from podless.controllers.contents import Contents
from podless.controllers.definitions import Definitions
from podless.controllers.expiry import Expiry
from podless.controllers.garbage import Garbage
from podless.controllers.namespaces import Namespaces
from podless.controllers.quotas import Quotas
from podless.controllers.roles import Roles
from podless.controllers.thirdparty import ThirdParties
from podless.http import status
from podless.http.api import APIHandler
from podless.http.audit.settings import Audit
from podless.http.chain import Filter, chain, filters
from podless.http.limits import Limits
from podless.http.listener import Listener
from podless.http.metrics import Metrics
from podless.http.nonresource import NonResource
from podless.http.offload import Offload
from podless.http.tls import BadCertificate, Certificates
from podless.kinds import builtin
from podless.kinds.builtin import runtime
from podless.kinds.registry import Registry
from podless.meta.files import write_file
from podless.remote import Client
from podless.store import StoreError
from podless.store.sqlite import SQLiteStore
from podless.verbs import storage
from podless.verbs.call import API

if TYPE_CHECKING:
    from podless.http.audit.backend import Backend


class Controller(Protocol):
    """What runs beside requests."""

    async def start(self) -> None:
        """Begin."""

    async def stop(self) -> None:
        """End."""


class StartError(Exception):
    """The server cannot start; the text is one clear line for a person."""


@dataclass(frozen=True, slots=True)
class Settings:
    """All that a server is told.

    data: the folder of database, certificates and kubeconfig; None keeps the database in memory and the rest in a
    temporary folder. bind: the address to listen on. port: 0 for any free one. tls: False serves plain HTTP, on
    loopback only. token_file: tokens in kube-apiserver's CSV format. tokens: more tokens, by token. services: where
    webhooks behind a Service are, as namespace/name or namespace/name:port -> host:port. runtime_config: which of the
    older APIs are served, as in kube-apiserver's --runtime-config: apiextensions.k8s.io/v1beta1 -> True.
    access: who may come in and who may do what. audit: the audit log, if there is to be one. event_ttl: seconds that an
    event stays after its last write. default_accounts: each namespace has the service account "default".
    root_configmaps: each namespace has the config map kube-root-ca.crt, with the authority of the server's certificate.
    """

    data: Path | None = None
    bind: str = "127.0.0.1"
    port: int = 0
    tls: bool = True
    token_file: Path | None = None
    tokens: dict[str, User] = field(default_factory=dict)
    services: dict[str, str] = field(default_factory=dict)
    runtime_config: Mapping[str, bool] = field(default_factory=dict)
    access: Access = field(default_factory=Access)
    limits: Limits = field(default_factory=Limits)
    audit: Audit | None = None
    garbage_delay: float | None = 1.0
    event_ttl: float = 3600.0
    default_accounts: bool = True
    root_configmaps: bool = False

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach the server."""
        return is_loopback(self.bind)


def is_loopback(address: str) -> bool:
    """Whether an address or host name is this machine's own."""
    if address == "localhost":
        return True
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


class App:
    """A server that can be started and stopped once.

    After `start`: url, token (of the admin) and kubeconfig (a path) say how to reach it. admission has the steps that
    writes pass; one may be added at any time.
    """

    def __init__(self, settings: Settings) -> None:
        if not settings.tls and not settings.loopback:
            raise StartError(f"plain HTTP is served on loopback only, not on {settings.bind}")
        try:
            runtime.check(settings.runtime_config)
        except runtime.BadRuntimeConfig as error:
            raise StartError(str(error)) from None
        self.settings = settings
        self.url = ""
        self.token = ""
        self.kubeconfig = Path()
        self.admission = Admission()
        self._scratch: tempfile.TemporaryDirectory[str] | None = None
        self._listener: Listener | None = None
        self._backend: Backend | None = None
        self._store: SQLiteStore | None = None
        self._remote: Client | None = None
        self._controllers: list[Controller] = []
        self._address = ""

    async def start(self) -> None:
        """Bring everything up; on return requests are answered. Raises StartError."""
        try:
            await self._start()
        except (StoreError, BadAccess, BadCertificate) as error:
            await self.stop()
            raise StartError(str(error)) from None
        except OSError as error:
            await self.stop()
            why = os.strerror(error.errno).lower() if error.errno and error.errno > 0 else str(error)
            raise StartError(f"{error.filename or self._where()}: {why}") from None
        except BaseException:
            await self.stop()
            raise

    def _where(self) -> str:
        return f"{self.settings.bind}:{self.settings.port}"

    async def _start(self) -> None:
        settings = self.settings
        folder = self._folder()
        self.token = _admin_token(folder / "token")
        tokens = {self.token: ADMIN, **settings.tokens}
        if settings.token_file is not None:
            tokens |= read_file(settings.token_file)
        certificates = Certificates(folder)
        if settings.tls:
            certificates.ensure([settings.bind] if settings.bind not in ("0.0.0.0", "::") else [])
        context = certificates.context(settings.access.client_ca) if settings.tls else None

        self._store = SQLiteStore(folder / "podless.db" if settings.data is not None else None)
        cache = Cache(self._store)
        await self._store.open()
        await cache.open()
        registry = Registry()
        for kind in runtime.served(builtin.ALL, settings.runtime_config):
            registry.put(kind)
        authorizer = RBAC(cache) if settings.access.mode == "RBAC" else AllowAll()
        self._remote = Client(settings.services)
        state = State(cache, registry)
        self.admission.steps += _admission(state, authorizer, self._remote)
        self.admission.steps.append(ObjectQuota(state))  # the last one: what it lets pass is stored next
        api = API(self._store, cache, registry, self._remote, authorizer, self.admission)
        secret = await storage.once(api, accounts.SECRET, partial(accounts.make_secret, folder / "accounts.key"))
        (folder / "accounts.key").unlink(missing_ok=True)
        api.authenticator = _authenticator(settings, secret, cache, Tokens(tokens))
        self._remote.external = partial(_external, api)
        third = ThirdParties(api, builtin.THIRD_PARTY_RESOURCES)
        definitions = Definitions(api, builtin.DEFINITIONS, third.hand_over)
        self._controllers = [Roles(api), Namespaces(api, builtin.NAMESPACES), third, definitions]
        if settings.garbage_delay is not None:
            self._controllers.append(Garbage(api, settings.garbage_delay))
        self._controllers += [Quotas(api, builtin.QUOTAS), APIServices(api, builtin.API_SERVICES)]
        self._controllers += [Expiry(api, builtin.EVENTS, settings.event_ttl), self._contents(api, certificates)]
        for controller in self._controllers:
            await controller.start()
        if isinstance(authorizer, RBAC):
            await authorizer.start()
        await self.admission.start()

        documents = NonResource(registry, lambda: self._address, Metrics(cache, registry), api.authenticator.accounts)
        handler = APIHandler(api, documents, Offload())
        handle = chain(filters(api, settings.limits, self._auditing()), handler.handle)
        self._listener = Listener(handle, status.refuse, settings.limits, context)
        port = await self._listener.open(settings.bind, settings.port)
        self._announce(folder, port, certificates)

    def _contents(self, api: API, files: Certificates) -> Contents:
        """What each namespace is to have."""
        wanted = [contents.account(builtin.SERVICE_ACCOUNTS)] if self.settings.default_accounts else []
        if self.settings.root_configmaps and self.settings.tls:
            wanted.append(contents.certificates(builtin.CONFIG_MAPS, files.authority.read_text()))
        return Contents(api, builtin.NAMESPACES, wanted)

    def _auditing(self) -> Filter | None:
        """The filter that tells the audit log, where one is wanted. Raises StartError."""
        wanted = self.settings.audit
        if wanted is None:
            return None
        from podless.http.audit import policy
        from podless.http.audit.auditor import Auditor
        from podless.http.audit.backend import Backend

        try:
            rules = policy.read(wanted.policy) if wanted.policy is not None else policy.METADATA
        except policy.BadPolicy as error:
            raise StartError(str(error)) from None
        self._backend = Backend(wanted.path, wanted.size, wanted.backups)
        self._backend.open()
        return Auditor(rules, self._backend).filter

    def reopen(self) -> None:
        """Begin the audit log anew under its name, after somebody has moved the file. Raises OSError."""
        if self._backend is not None:
            self._backend.open()

    def _announce(self, folder: Path, port: int, certificates: Certificates) -> None:
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.settings.bind, self.settings.bind)
        self._address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        self.url = f"{'https' if self.settings.tls else 'http'}://{self._address}"
        authority = certificates.authority.read_bytes() if self.settings.tls else None
        self.kubeconfig = folder / "kubeconfig"
        write_file(self.kubeconfig, kubeconfig(self.url, by_token(self.token), authority), 0o600)

    def _folder(self) -> Path:
        if self.settings.data is None:
            self._scratch = tempfile.TemporaryDirectory(prefix="podless-")
            return Path(self._scratch.name)
        folder = self.settings.data.absolute()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder

    async def stop(self) -> None:
        """Stop serving, finish what was begun, close the store. What was acknowledged is kept."""
        if self._listener is not None:
            await self._listener.close()
            self._listener = None
        if self._backend is not None:
            self._backend.close()
            self._backend = None
        for controller in self._controllers:
            await controller.stop()
        self._controllers = []
        if self._remote is not None:
            await self._remote.close()
            self._remote = None
        if self._store is not None:
            await self._store.close()
            self._store = None
        if self._scratch is not None:
            self._scratch.cleanup()
            self._scratch = None


def _authenticator(settings: Settings, secret: bytes, cache: Cache, tokens: Tokens) -> Authenticator:
    """Who is known: by tokens that are set, by those of service accounts, by certificates."""
    collections = [cache.collection(kind.keys) for kind in (builtin.SERVICE_ACCOUNTS, builtin.SECRETS)]
    issuer = Accounts(secret, AUDIENCE, *collections)
    anonymous = settings.access.anonymous and settings.access.mode == "RBAC"
    oidc = settings.access.oidc
    return Authenticator(tokens, issuer, [Provider(oidc, AUDIENCE)] if oidc is not None else [], anonymous=anonymous)


def _admission(state: State, authorizer: Authorizer, client: Client) -> list[Step]:
    """What writes pass, in the order of a real server's plugins."""
    return [
        NamespaceLifecycle(state),
        MutatingPolicies(state, authorizer),
        MutatingWebhooks(state, authorizer, client),
        Escalation(authorizer),
        Generations(state),
        ParameterReading(state, authorizer),
        ValidatingPolicies(state, authorizer),
        ValidatingWebhooks(state, authorizer, client),
    ]


def _admin_token(path: Path) -> str:
    """The admin's token: made once, kept beside the database."""
    try:
        token = path.read_text().strip()
    except FileNotFoundError:
        token = ""
    except UnicodeDecodeError:
        raise StartError(f"{path}: not a token; remove it to have a new one made") from None
    if not token:
        token = secrets.token_hex(32)
        write_file(path, token.encode() + b"\n", 0o600)
    return token


async def _external(api: API, namespace: str, name: str) -> str:
    """The host that a Service is another name for; "" where there is none."""
    kind = builtin.SERVICES
    entry = (await api.loaded(kind)).get(kind.key(namespace, name))
    return str(entry.decode()["spec"].get("externalName") or "") if entry is not None else ""
