"""One API root without HTTP: store, caches, authentication, authorization, admission and controllers.

A process can have several clusters.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from podless.admission import AdmissionChain
from podless.apis import catalog, features, runtimeconfig, schemes
from podless.apis.admission import make_plugins
from podless.apis.apiextensions.group import DEFINITIONS
from podless.apis.core import group as core
from podless.apis.core.metering import Meter
from podless.apis.release import facts_of
from podless.apis.stored import note_release
from podless.auth import accounts
from podless.auth.accounts import ServiceAccountTokens
from podless.auth.authenticate import AUDIENCE, Authenticator
from podless.auth.authorizer import AllowAll
from podless.auth.rbac import RBAC
from podless.auth.tokens import StaticTokens, read_file
from podless.auth.user import ADMIN
from podless.cache.cache import Cache
from podless.controllers import health, namespaces, standins
from podless.controllers.accounttokens import AccountTokens
from podless.controllers.apiservices import APIServiceAvailability, APIServiceController, APIServiceRegistration
from podless.controllers.controller import Controller
from podless.controllers.definitions import DefinitionController
from podless.controllers.expiry import ObjectExpiry
from podless.controllers.flowschemas import FlowSchemaController
from podless.controllers.garbage import GarbageCollector
from podless.controllers.health import READY, CheckFailed, HealthChecks
from podless.controllers.initial import InitialObjects
from podless.controllers.namespaces import NamespaceContents, NamespaceController
from podless.controllers.quotas import QuotaController
from podless.controllers.roles import RoleController
from podless.controllers.services import ServiceDependents
from podless.controllers.thirdparty import ThirdPartyController
from podless.kinds.conversion import Converter
from podless.kinds.registry import Registry
from podless.kinds.state import State
from podless.offload.offloop import OffLoop
from podless.offload.process import SECONDS, ParserProcess
from podless.remote import WebhookClient
from podless.runtime.files import write_file
from podless.runtime.option import StartError
from podless.runtime.release import CURRENT
from podless.settings import ClusterSettings
from podless.store import Store, backup, engines
from podless.store.history import OFF
from podless.verbs import storage
from podless.verbs.call import API

if TYPE_CHECKING:
    from podless.controllers.leader import LeaderElection
    from podless.hooks.loaded import LoadedHooks
    from podless.store.etcd.layout import KeyLayout

log = logging.getLogger("podless")


class Cluster:
    """A cluster that can be started and stopped once.

    folder: for keys. database: its file, None for one in memory. authority: CA certificate that clients verify the
    server with, None without TLS. disturbed: as for `podless.remote.WebhookClient`. read_time: seconds of processor
    time for one long body.

    After `start`: api is the argument of verbs, token the administrator's token, admission the plugins of
    apis/admission.py (you can add more at any time), health the health checks.
    """

    api: API

    def __init__(
        self,
        settings: ClusterSettings,
        folder: Path,
        database: Path | None = None,
        authority: str | None = None,
        *,
        disturbed: Callable[[str], bool] | None = None,
        read_time: float = SECONDS,
    ) -> None:
        self.settings = settings
        self.admission = AdmissionChain()
        self.health = HealthChecks()
        self.token = ""
        self._folder = folder
        self._database = database
        self._authority = authority
        self._disturbed = disturbed
        self._off_loop = OffLoop(worker=ParserProcess(read_time))
        self._controllers: list[Controller] = []
        self.store: Store | None = None
        self.leader: LeaderElection | None = None
        self._remote: WebhookClient | None = None
        self._hooks: LoadedHooks | None = None
        self._stopping = False

    async def start(self) -> None:
        """Start everything. Raises StartError, StoreError and OSError; call `stop` then, too."""
        settings = self.settings
        CURRENT.set(settings.release)  # tasks of the cluster inherit this context
        if idle := features.describe_ineffective(settings.kubernetes_version, settings.feature_gates):
            log.warning("%s", idle)
        tokens = self._load_tokens()
        self.store = store = configure_store(settings, self._database)
        await store.open()
        await backup.refuse_half(store)
        is_kept = self._database is not None or settings.is_shared
        cache = Cache(store, await note_release(store, settings.release) if is_kept else None)
        await cache.open()
        registry = Registry()
        chosen = settings.runtime_config
        disabled, profile = settings.disable_builtin, settings.profile
        for kind in runtimeconfig.serve_kinds(catalog.ALL, chosen, disabled, profile, settings.release):
            registry.put_kind(kind)
        authorizer = RBAC(cache) if settings.authorization == "RBAC" else AllowAll()
        self._remote = WebhookClient(
            settings.services,
            external=partial(_external_host, cache),
            disturbed=self._disturbed,
            off_loop=self._off_loop,
        )
        self._hooks = await self._load_hooks()
        converter = Converter(self._remote, schemes.make_review_scheme(DEFINITIONS.group), self._hooks)
        state = State(store, cache, registry, converter)
        authenticator = self._build_authenticator(cache, tokens, await self._load_secret(state))
        meter = Meter()
        self.admission.plugins += make_plugins(state, authorizer, meter, self._hooks)
        self.api = api = API(
            store,
            cache,
            registry,
            converter,
            authorizer,
            self.admission,
            authenticator,
            off_loop=self._off_loop,
            facts=facts_of(settings.release),
        )
        self.health.add_check("etcd", lambda: store.read_range(health.ABSENT_KEY))
        self.health.add_check("etcd-readiness", store.check_health, READY)  # a restart does not free space
        await self._start_controllers(api, meter)
        if isinstance(authorizer, RBAC):
            await authorizer.start()
        await self.admission.start()
        self.health.add_known()
        self.health.add_check("shutdown", self._check_running, READY)

    async def _start_controllers(self, api: API, meter: Meter) -> None:
        settings = self.settings
        third = ThirdPartyController(api)
        definitions = DefinitionController(api, third.hand_over)
        self._controllers = [
            RoleController(api),
            NamespaceController(api),
            third,
            definitions,
            InitialObjects(api),
        ]
        if settings.garbage_delay is not None:
            self._controllers.append(GarbageCollector(api, settings.garbage_delay))
        # kube-apiserver alone does not report types, as recorded: kube-controller-manager does
        if settings.controllers:
            from podless.controllers.typechecking import PolicyTypeChecking

            self._controllers.append(PolicyTypeChecking(api))
        self._controllers += [
            QuotaController(api, meter),
            ServiceDependents(api),
            FlowSchemaController(api),
        ]
        self._controllers += [of(api) for of in (APIServiceRegistration, APIServiceController, APIServiceAvailability)]
        if not engines.ENGINES[settings.store].expires:
            self._controllers.append(ObjectExpiry(api, settings.event_ttl))
        self._controllers.append(self._build_contents(api))
        if settings.default_accounts:
            collect = settings.garbage_delay is not None
            self._controllers.append(AccountTokens(api, self._authority or "", collect=collect))
        self._controllers += standins.build_controllers(api, standins.check_names(settings.controllers))
        if settings.read_only:
            self._controllers = await self._find_readers(api)
        elif not api.store.prompt:
            from podless.controllers.leader import LeaderElection

            self.leader = LeaderElection(api, [each for each in self._controllers if each.leads])
            self._controllers = [each for each in self._controllers if not each.leads]
        for controller in self._controllers:
            await controller.start()
            self.health.add_check(controller.name, health.check_controller(controller))
        if self.leader is not None:
            await self.leader.start()
        if settings.history_log not in (None, OFF):
            from podless.history.change import make_history_kind

            api.registry.put_kind(make_history_kind())

    async def _find_readers(self, api: API) -> list[Controller]:
        """Return the controllers of a read-only server. Initial objects are created only if the store is empty."""
        readers = [each for each in self._controllers if not each.leads]
        records, _ = await api.store.read_range(core.NAMESPACES.prefix)
        return [each for each in readers if not records or not isinstance(each, RoleController | InitialObjects)]

    async def _load_hooks(self) -> LoadedHooks | None:
        settings = self.settings
        if not settings.hooks:
            return None
        from podless.admission.localhooks import check_declaration
        from podless.hooks.loaded import LoadedHooks
        from podless.hooks.pool import LoadFailed

        try:
            hooks = LoadedHooks(settings.hooks, reload=settings.reload_hooks, check=check_declaration)
            await hooks.start()
        except (ValueError, LoadFailed) as failed:
            raise StartError(f"--hooks: {failed}") from None
        return hooks

    def find_leader(self) -> str:
        """Return the server that runs the controllers: this one, another by its name, or "" if none does."""
        return "this server" if self.leader is None or self.leader.leading else self.leader.find_holder()

    async def settle(self, idle_seconds: float = 0.1) -> None:
        """Wait until the controllers have handled all writes so far.

        This includes keys that are due within `idle_seconds`. Work that waits for finalizers counts as done when
        nothing has changed for `idle_seconds`. Keys that failed and will be retried are not waited for.
        """
        assert self.store is not None
        loop = asyncio.get_running_loop()
        revision, since = -1, loop.time()
        while True:
            for controller in self._controllers:
                await controller.reconcile_all()
            await asyncio.sleep(0)
            current = await self.store.read_revision()
            busy = any(controller.queue.is_busy(idle_seconds) for controller in self._controllers)
            if busy or current != revision:
                revision, since = current, loop.time()
                await asyncio.sleep(idle_seconds / 20)
            elif loop.time() - since >= idle_seconds or not any(controller.working for controller in self._controllers):
                return
            else:
                await asyncio.sleep(idle_seconds / 10)

    def _check_running(self) -> None:
        if self._stopping:
            raise CheckFailed("process is shutting down")

    def _build_contents(self, api: API) -> NamespaceContents:
        account_makers = [namespaces.ACCOUNT] if self.settings.default_accounts else []
        if self.settings.root_configmaps and self._authority is not None:
            account_makers.append(namespaces.make_certificates(self._authority))
        return NamespaceContents(api, account_makers)

    def _load_tokens(self) -> StaticTokens:
        self.token = admin_token(self._folder / "token")
        tokens = {self.token: ADMIN, **self.settings.tokens}
        if self.settings.token_file is not None:
            tokens |= read_file(Path(self.settings.token_file))
        return StaticTokens(tokens)

    async def _load_secret(self, state: State) -> bytes:
        """Return the signing key of service account tokens, which all servers of a store share."""
        file = self._folder / "accounts.key"  # the file of older releases
        secret = await storage.read_or_create_value(state, accounts.SECRET, partial(accounts.make_secret, file))
        file.unlink(missing_ok=True)
        return secret

    def _build_authenticator(self, cache: Cache, tokens: StaticTokens, secret: bytes) -> Authenticator:
        settings = self.settings
        bound = (core.SERVICE_ACCOUNTS, core.SECRETS, core.PODS, core.NODES)
        collections = [cache.collection(kind.keys) for kind in bound]
        issuer = ServiceAccountTokens(secret, AUDIENCE, *collections)
        anonymous = settings.anonymous and settings.authorization == "RBAC"
        return Authenticator(tokens, issuer, settings.make_authenticators(AUDIENCE), anonymous=anonymous)

    def mark_stopping(self) -> None:
        """Make /readyz fail, because the server is about to stop."""
        self._stopping = True

    async def stop(self) -> None:
        """Finish requests in flight and close the store. Acknowledged writes are kept."""
        if self.leader is not None:
            await self.leader.stop()
            self.leader = None
        for controller in self._controllers:
            await controller.stop()
        self._controllers = []
        self._off_loop.close()
        if self._hooks is not None:
            await self._hooks.stop()
            self._hooks = None
        if self._remote is not None:
            await self._remote.close()
            self._remote = None
        if self.store is not None:
            await self.store.close()
            self.store = None


def configure_store(settings: ClusterSettings, database: Path | None, *, compacting: bool = True) -> Store:
    """Return the store of a cluster's settings, not opened yet.

    compacting: the store compacts its history to the configured bounds.
    """

    def make_layout(prefix: str) -> KeyLayout:
        from podless.apis.layout import key_layout

        return key_layout(prefix)

    return engines.import_engine(settings.store).make_store(
        engines.StoreSettings(
            database=database,
            options=getattr(settings, settings.store, None),
            keep=settings.history,
            bounds=settings.bounds,
            authors=settings.history_authors,
            needs_log=settings.needs_log,
            compacting=compacting,
            times={core.EVENTS.prefix: settings.event_ttl},
            layout=make_layout,
        ),
    )


def admin_token(path: Path) -> str:
    """Return the administrator's token, which is created once and stored next to the database."""
    try:
        token = path.read_text().strip()
    except FileNotFoundError:
        token = ""
    except UnicodeDecodeError:
        raise StartError(f"{path}: not a token; remove it to create a new one") from None
    if not token:
        token = secrets.token_hex(32)
        write_file(path, token.encode() + b"\n", 0o600)
    return token


async def _external_host(cache: Cache, namespace: str, name: str) -> str:
    """Return the host of a Service of type ExternalName, "" for other Services."""
    kind = core.SERVICES
    entry = (await cache.load_collection(kind.keys)).get(kind.key(namespace, name))
    return str(entry.decode()["spec"].get("externalName") or "") if entry is not None else ""
