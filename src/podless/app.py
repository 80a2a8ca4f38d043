"""The server process: listener, TLS, limits and audit log around one cluster."""

from __future__ import annotations

import errno
import ipaddress
import logging
import os
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from podless.admission import AdmissionChain
from podless.auth.kubeconfig import by_token, make_kubeconfig
from podless.cluster import Cluster, admin_token, configure_store
from podless.controllers.health import check_controller
from podless.http import status
from podless.http.answering import ListenerState
from podless.http.api import APIHandler
from podless.http.audit import Audit
from podless.http.chain import chain_filters, list_filters
from podless.http.clientmemory import ClientMemory
from podless.http.flows import Flows
from podless.http.freshness import make_read_gate
from podless.http.limits import Limits
from podless.http.listener import Listener
from podless.http.message import Filter, Handler
from podless.http.metrics import Metrics, RequestMetrics
from podless.http.nonresource import NonResourcePaths
from podless.http.operations import OperationPaths
from podless.http.tls import CertificateRotation, Certificates, own_names, parse_names
from podless.http.watchselectors import SelectorTable
from podless.kinds.registry import Registry
from podless.runtime.dataclass import dataclass
from podless.runtime.files import describe_fault, make_private, write_file
from podless.runtime.heartbeat import Heartbeat
from podless.runtime.option import StartError, file_option, join_lists, option, parse_seed, section
from podless.settings import ClusterSettings
from podless.store import DiskFull, StoreError, StoreUnreachable, share
from podless.store.engines import DATABASE, import_engine

if TYPE_CHECKING:
    from podless.http.audit.backend import Backend
    from podless.http.console import Console
    from podless.http.faults import Faults
    from podless.http.record import RecentRequests

__all__ = ["App", "Settings", "StartError", "is_loopback"]


log = logging.getLogger("podless")

_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # a wildcard address, and the address for clients on this machine
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# files that only the owner of the process may read; the engine protects the database
_PRIVATE = ("token", "kubeconfig", "ca.key", "server.key", "accounts.key")


def parse_port(text: str) -> int:
    """Parse a port. Raises ValueError."""
    if not text.isascii() or not text.isdigit() or len(text) > 5 or int(text) > 65535:
        raise ValueError("expected a port from 0 to 65535")
    return int(text)


@dataclass(frozen=True, slots=True)
class Settings(ClusterSettings):
    """The settings of a server; the help text of each field describes it.

    data: None keeps the database in memory and other files in a temporary folder. tls: False serves plain HTTP, on
    loopback addresses only. audit: None for no audit log. chaos: a seed, or True for a random one. Raises StartError
    for invalid settings.
    """

    data: str | os.PathLike[str] | None = option(
        "--data",
        "folder for the database, certificates and kubeconfig",
        value=None,
        metavar="DIR",
        parse=Path,
        default="podless-data",
        unset_flag=("--memory", "keep all data in memory; nothing survives a restart"),
    )
    bind: str = option("--bind", "address to listen on", value="127.0.0.1", metavar="ADDRESS")
    port: int = option(
        "--port", "port to listen on; 0 for any free port", value=0, metavar="PORT", parse=parse_port, default="6443"
    )
    kubeconfig: str | os.PathLike[str] | None = file_option(
        "--kubeconfig", "also write the administrator's kubeconfig to FILE"
    )
    tls: bool = option(
        "--insecure-http",
        "serve plain HTTP, on loopback addresses only. kubectl and other Go clients do not send tokens over plain HTTP",
        value=True,
        values=(False, None),
    )
    tls_names: Sequence[str] = option(
        "--tls-san",
        "additional DNS names and IP addresses for the server's certificate",
        value=(),
        metavar="NAME,...",
        parse=parse_names,
        combine=join_lists,
    )
    tls_cert: str | os.PathLike[str] | None = file_option(
        "--tls-cert-file",
        "PEM file with the server's certificate and its intermediates, in place of a generated one; "
        "reloaded when it changes",
    )
    tls_key: str | os.PathLike[str] | None = file_option("--tls-private-key-file", "private key of that certificate")
    verbose: bool = option("--verbose", "log every request", value=False, letter="-v")
    client_ca: str | os.PathLike[str] | None = file_option(
        "--client-ca-file", "PEM file with additional CAs for client certificates"
    )
    enable_faults: bool = option(
        "--enable-faults", "serve the Fault API (testing.podless.dev/v1), which lets tests inject errors", value=False
    )
    chaos: int | bool = option(
        "--chaos",
        "inject random faults. The same SEED gives the same faults; without one, podless picks and prints a seed",
        value=False,
        metavar="SEED",
        parse=parse_seed,
        bare_value=True,
    )
    console: bool = option(
        "--console",
        "serve the browser console at /console, and print a one-time link for the administrator",
        value=False,
    )
    audit: Audit | None = section(Audit, "audit log", "audit events as in kube-apiserver", any_of=("path",))
    limits: Limits = section(
        Limits, "limits", "requests beyond a limit are queued, then rejected with 429", factory=Limits
    )

    def __post_init__(self) -> None:
        ClusterSettings.__post_init__(self)  # super() finds the class without slots
        if not self.tls and not self.loopback:
            raise StartError(f"plain HTTP is served on loopback only, not on {self.bind}")
        if bool(self.tls_cert) != bool(self.tls_key):
            raise StartError("--tls-cert-file and --tls-private-key-file require each other")
        if self.port > 65535:
            raise StartError(f"port: expected a port from 0 to 65535, not {self.port}")

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach the server."""
        return is_loopback(self.bind)


def is_loopback(address: str) -> bool:
    """Return whether an address or host name is a loopback one."""
    if address == "localhost":
        return True
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def certificate_maker(settings: Settings) -> Callable[[], None] | None:
    """Return a function that creates missing certificates. None if they are not kept, or servers share them."""
    if settings.data is None or not settings.tls or settings.tls_cert or settings.is_shared:
        return None
    data = settings.data
    if Certificates(Path(data)).authority.exists():
        return None
    return lambda: Certificates(_prepare_folder(data, settings)).create_missing(_server_names(settings))


def _prepare_folder(data: str | os.PathLike[str], settings: Settings) -> Path:
    """Create the data folder, readable by its owner only. Raises StartError, StoreError, OSError.

    A folder with another program's database is left unchanged.
    """
    folder = Path(data).absolute()
    database = folder / DATABASE
    if database.exists():
        if settings.is_shared:  # commands on the folder would read it, not the store
            raise StartError(
                f"{database}: the folder has a database, which --store {settings.store} does not use: "
                "move the database away, or name another folder with --data"
            )
        import_engine(settings.store).reject_foreign(database)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    make_private(folder)
    for name in _PRIVATE:
        make_private(folder / name)
    return folder


def _server_names(settings: Settings) -> list[str]:
    """Return the server's own DNS names and addresses, without those of every server."""
    return [*(own_names() if settings.bind in _EVERYWHERE else [settings.bind]), *settings.tls_names]


class App:
    """A server that can be started and stopped once.

    After `start`, url, token (the administrator's) and kubeconfig (a path) are for clients, and cluster is the served
    cluster. handler: answers requests of this process. outside: filters for the requests of clients, before all others.
    faults: injected faults, None for none. chaos: its seed, None for none. requests: records the requests of clients.
    """

    def __init__(
        self,
        settings: Settings,
        outside: Sequence[Filter] = (),
        faults: Faults | None = None,
        requests: RecentRequests | None = None,
    ) -> None:
        self.settings = settings
        if requests is None and settings.enable_faults:
            from podless.http.record import RecentRequests

            requests = RecentRequests()
        self._requests = requests
        self._outside = [*outside, *([self._requests.wrap_handler] if self._requests is not None else [])]
        enable_faults = settings.enable_faults or settings.chaos is not False
        self.faults = faults
        if faults is None and enable_faults:
            from podless.http.faults import Faults

            self.faults = Faults()
        self.chaos: int | None = None
        self.url = ""
        self.kubeconfig = self.authority = Path()
        self.cluster: Cluster | None = None
        self.handler: Handler | None = None
        self._cleanup = AsyncExitStack()  # ends everything that was started, in the reverse order
        self._listener: Listener | None = None
        self._backend: Backend | None = None
        self._console: Console | None = None
        self._address = ""

    @property
    def token(self) -> str:
        """The administrator's bearer token."""
        return self.cluster.token if self.cluster is not None else ""

    @property
    def admission(self) -> AdmissionChain:
        """The admission plugins. You can add plugins at any time."""
        assert self.cluster is not None
        return self.cluster.admission

    async def start(self, *, listen: bool = True) -> None:
        """Start the server; on return it answers requests. Raises StartError.

        listen: False serves only requests of this process, through `handler`.
        """
        try:
            await self._start(listen)
        except DiskFull:
            await self.stop()
            raise StartError(f"{self.settings.data}: the disk is full: make room, then start again") from None
        except StoreUnreachable as error:
            await self.stop()
            servers = ", ".join(self.settings.etcd.servers) if self.settings.etcd is not None else ""
            raise StartError(f"{servers}: {error}: is etcd running there?" if servers else str(error)) from None
        except StoreError as error:
            await self.stop()
            raise StartError(str(error)) from None
        except OSError as error:
            await self.stop()
            raise StartError(describe_fault(error, f"{self.settings.bind}:{self.settings.port}")) from None
        except BaseException:
            await self.stop()
            raise

    async def _start(self, listen: bool) -> None:
        settings = self.settings
        folder = self._choose_folder()
        given = (Path(settings.tls_cert), Path(settings.tls_key)) if settings.tls_cert and settings.tls_key else None
        certificates, context = Certificates(folder, given), None
        if settings.is_shared:
            await self._load_shared(settings, folder, certificates)
        if settings.tls and listen:
            clients = Path(settings.client_ca) if settings.client_ca is not None else None
            rotation = CertificateRotation(certificates, _server_names(settings), clients)
            self._cleanup.callback(rotation.stop)
            if settings.data is None and given is None and clients is None:
                certificates.ensure_authority()  # all files are new, so they need no verification
            else:
                rotation.make_context()
            context = rotation.context
            rotation.start()
        database = folder / DATABASE if settings.data is not None else None
        authority = certificates.read_trust() if settings.tls and listen else None
        disturbed = self.faults.webhook if self.faults is not None else None
        self.cluster = cluster = Cluster(
            settings, folder, database, authority, disturbed=disturbed, read_time=settings.limits.read_time
        )
        self._cleanup.push_async_callback(self._stop_cluster)
        await cluster.start()
        if settings.chaos is not False and self.faults is not None:
            self.chaos = self.faults.chaos(None if settings.chaos is True else settings.chaos)
        await self._take_faults(cluster)
        cache = cluster.api.cache
        held = ClientMemory(settings.limits.held, lambda: cache.replaced)
        self.handler = self._build_handler(cluster, held)
        if not listen:
            return
        listens = chain_filters(self._outside, self.handler)
        shared = ListenerState(
            listens,
            status.refuse_bytes,
            settings.limits,
            held,
            cluster.api.pace,
            cluster.api.watchdog,
            make_read_gate(cluster.api),
            self._measured.note_answer,
        )
        self._listener = Listener(shared, context)
        self._cleanup.push_async_callback(self._close_listener)
        self._cleanup.callback(cluster.mark_stopping)
        self._measured.list_unanswered = self._listener.list_unanswered
        bound = await self._listener.open(settings.bind, settings.port)
        self._publish_address(folder, bound, cluster.token, authority)
        heartbeat = Heartbeat(cluster.api.watchdog)
        self._cleanup.callback(heartbeat.stop)
        heartbeat.start()

    async def _take_faults(self, cluster: Cluster) -> None:
        """Serve the Fault API and inject faults, if the settings say so."""
        if self.faults is None:
            return
        registry = cluster.api.registry

        def name_kind(group: str, plural: str) -> str:
            kind = registry.get(group, plural)
            return kind.kind if kind is not None else ""

        self.faults.kinds = name_kind
        if self.settings.enable_faults:
            from podless.http.faults.objects import FaultObjects

            objects = FaultObjects(cluster.api, self.faults)
            self._cleanup.push_async_callback(objects.stop)
            await objects.start()
            cluster.health.add_check(objects.name, check_controller(objects))

    async def _load_shared(self, settings: Settings, folder: Path, certificates: Certificates) -> None:
        """Read the CA and the administrator's token from the store, which all servers share."""
        store = configure_store(settings, None)
        try:
            await store.open()
            files = [certificates.authority, certificates.authority_key, folder / "token"]
            await share.share_files(
                store, files, lambda: (certificates.ensure_authority(), admin_token(folder / "token"))
            )
        finally:
            await store.close()

    def _build_handler(self, cluster: Cluster, held: ClientMemory) -> Handler:
        api = cluster.api
        flows = Flows(api, self.settings.limits.in_flight)
        self._measured = measured = RequestMetrics(flows)
        auditing = self._make_audit_filter(api.registry)
        operations = OperationPaths(api, cluster.find_leader, self._requests if self.settings.enable_faults else None)
        metrics = Metrics(api, held, measured, self._backend)
        documents = NonResourcePaths(api, lambda: self._address, metrics, cluster.health, operations)
        last = APIHandler(api, documents, SelectorTable(held))
        faults, log = self.faults, self.settings.verbose
        read_only = self.settings.read_only
        if self.settings.console:
            from podless.auth.oidc import OIDCIssuer
            from podless.http.console import CodeLogin, Console

            provider = self.settings.oidc
            login = CodeLogin(OIDCIssuer(provider) if provider is not None else None)
            self._console = Console(lambda: cluster.token, login)
        passed = list_filters(
            api,
            self.settings.limits,
            auditing,
            log=log,
            flows=flows,
            faults=faults,
            read_only=read_only,
            console=self._console.wrap_handler if self._console is not None else None,
        )
        return chain_filters(passed, last.handle)

    @property
    def is_connecting(self) -> bool:
        """Return whether a client is waiting for a connection to be accepted."""
        return self._listener is not None and self._listener.is_connecting

    def make_console_link(self) -> str:
        """Return a URL of the console that logs the administrator in once, within ten minutes; "" without a console."""
        return f"{self.url}/console/#/link/{self._console.links.make_code()}" if self._console is not None else ""

    def _make_audit_filter(self, registry: Registry) -> Filter | None:
        """Return the filter that writes the audit log, None for no log. Raises BadPolicy."""
        audit = self.settings.audit
        if audit is None:
            return None
        from podless.http.audit import policy
        from podless.http.audit.auditor import Auditor
        from podless.http.audit.backend import Backend

        rules = policy.read_policy(Path(audit.policy)) if audit.policy is not None else policy.METADATA
        self._backend = Backend(Path(audit.path), audit.size, audit.backups)
        self._cleanup.push_async_callback(self._backend.close)
        self._backend.open()
        return Auditor(rules, self._backend, registry.find_struct).wrap_handler

    def reopen(self) -> None:
        """Reopen the audit log under its name, after log rotation moved the file. Raises OSError."""
        if self._backend is not None:
            self._backend.open()

    def _publish_address(self, folder: Path, bound: int, token: str, authority: str | None) -> None:
        host = _EVERYWHERE.get(self.settings.bind, self.settings.bind)
        self._address = f"[{host}]:{bound}" if ":" in host else f"{host}:{bound}"
        self.url = f"{'https' if self.settings.tls else 'http'}://{self._address}"
        self.authority = folder / "ca.crt"
        self.kubeconfig = Path(self.settings.kubeconfig or folder / "kubeconfig").absolute()
        known = authority.encode() if authority is not None else None
        text = make_kubeconfig(self.url, by_token(token), known)
        for path in dict.fromkeys((folder / "kubeconfig", self.kubeconfig)):
            try:
                write_file(path, text, 0o600)
            except OSError as error:
                if error.errno not in _NO_ROOM:
                    raise
                log.error("start: cannot write the kubeconfig: %s", describe_fault(error))

    def _choose_folder(self) -> Path:
        if self.settings.data is None:
            from tempfile import TemporaryDirectory  # imported late: servers with data need none, and it imports much

            return Path(self._cleanup.enter_context(TemporaryDirectory(prefix="podless-")))
        return _prepare_folder(self.settings.data, self.settings)

    async def stop(self) -> None:
        """Stop serving, finish requests in flight, close the store. Acknowledged writes are kept."""
        await self._cleanup.aclose()

    async def _close_listener(self) -> None:
        if self._listener is not None:
            await self._listener.close()
            self._listener = None

    async def _stop_cluster(self) -> None:
        if self.cluster is not None:
            await self.cluster.stop()
            self.cluster = None
