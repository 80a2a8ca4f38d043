"""The options of a cluster: all options of a server that are not about HTTP."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from podless.apis import features, runtimeconfig
from podless.auth.access import MODES, BadAccess
from podless.auth.authenticate import AuthenticatorOptions
from podless.auth.user import User
from podless.controllers import standins
from podless.hooks import Sources
from podless.runtime.dataclass import dataclass
from podless.runtime.option import StartError, file_option, join_lists, merge_maps, option, parse_duration
from podless.runtime.release import Release
from podless.store import ResourceKeys
from podless.store.engines import ENGINES, EngineOptions, validate_engine
from podless.store.history import LOG_BOUNDS, OFF, HistoryBounds, Keep, parse_keep, parse_log, parse_log_of


def parse_service(text: str) -> tuple[str, str]:
    """Parse a Service and its address. Raises ValueError."""
    name, sign, place = text.partition("=")
    host, colon, port = place.rpartition(":")
    namespace, slash, rest = name.partition("/")
    plain, with_port, number = rest.partition(":")
    sound = sign and colon and host and port.isdigit() and slash and namespace and plain and ":" not in namespace
    if not sound or "/" in rest or (with_port and not number.isdigit()):
        raise ValueError("expected NAMESPACE/NAME=HOST:PORT")
    return name, place


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSettings(AuthenticatorOptions, EngineOptions):
    """The settings of a cluster; the help text of each field describes it.

    token_file: in kube-apiserver's CSV format. tokens: users by token. services: host:port by namespace/name or
    namespace/name:port. runtime_config: such as {"apiextensions.k8s.io/v1beta1": True}. garbage_delay: seconds, None
    for no garbage collection. controllers: names in podless.controllers.standins. Raises StartError for invalid
    settings.
    """

    garbage_delay: float | None = option(
        "--garbage-collector",
        "delete objects whose owners (metadata.ownerReferences) are gone, and serve propagation policies",
        value=1.0,
        values=(1.0, None),
    )
    event_ttl: float = option(
        "--event-ttl",
        "how long to keep an Event after its last write",
        value=3600.0,
        metavar="DURATION",
        parse=parse_duration,
        default="1h",
    )
    default_accounts: bool = option(
        "--default-accounts",
        'create the ServiceAccount "default" in each namespace, and fill Secrets for service account tokens',
        value=True,
    )
    root_configmaps: bool = option(
        "--root-configmaps", "create the ConfigMap kube-root-ca.crt in each namespace", value=False
    )
    controllers: Sequence[str] = option(
        "--controllers",
        "controllers and kubelets to simulate: " + ", ".join(standins.NAMES) + ", or * for all",
        value=(),
        metavar="NAME,...",
        parse=standins.parse_names,
        combine=lambda given: standins.check_names(join_lists(given)),
    )
    services: Mapping[str, str] = option(
        "--service",
        "address of webhooks behind a Service (repeatable). Default: the Service's ExternalName, else "
        "NAME.NAMESPACE.svc in DNS",
        factory=dict,
        metavar="NAMESPACE/NAME[:PORT]=HOST:PORT",
        parse=parse_service,
        combine=dict,
    )
    runtime_config: Mapping[str, bool] = option(
        "--runtime-config",
        "older APIs to serve: apiextensions.k8s.io/v1beta1=true, extensions/v1beta1/thirdpartyresources=true",
        factory=dict,
        metavar="API=true,...",
        parse=runtimeconfig.parse_runtime_config,
        combine=merge_maps,
    )
    kubernetes_version: str = option(
        "--kubernetes-version",
        f"Kubernetes release to answer as: its APIs, rules, messages and defaults. {features.UNRECORDED}",
        value=features.DEFAULT,
        metavar="1.N",
        choices=features.NAMES,
    )
    feature_gates: Mapping[str, bool] = option(
        "--feature-gates",
        "feature gates to turn on or off, as in kube-apiserver",
        factory=dict,
        metavar="NAME=true,...",
        parse=features.parse_gates,
        combine=merge_maps,
    )
    profile: str = option(
        "--profile",
        "built-in kinds to serve: full includes workloads, networking and storage; crds has what custom resources need",
        value=runtimeconfig.PROFILES[0],
        choices=runtimeconfig.PROFILES,
    )
    disable_builtin: Sequence[str] = option(
        "--disable-builtin",
        "built-in APIs not to serve, such as apps/v1 or v1/pods",
        value=(),
        metavar="API,...",
        parse=runtimeconfig.parse_disabled,
        combine=join_lists,
    )
    token_file: str | os.PathLike[str] | None = file_option(
        "--token-auth-file", 'CSV file of bearer tokens: token,user,uid,"group1,group2"'
    )
    history: Keep = option(
        "--history",
        "how much history to keep for reads and watches at old resource versions: age, size and number of"
        " changes; the first limit reached applies. With `--store etcd`, only the log of changes",
        factory=Keep,
        metavar="AGE,SIZE,NUMBER",
        parse=parse_keep,
        default="1h,256Mi,10000",
    )
    history_log: Keep | None = option(
        "--history-log",
        "how long to keep the log of changes and their states beyond `--history`: age, size and number of"
        " changes; the first limit reached applies (no value: 720h,1Gi,1000000). Also serves "
        "history.podless.dev in discovery. off: keep none, and delete the log of earlier starts",
        value=None,
        metavar="AGE,SIZE,NUMBER|off",
        parse=parse_log,
        bare_value=LOG_BOUNDS,
    )
    history_for: Mapping[str, Keep | None] = option(
        "--history-for",
        "bounds of the history log for one resource, such as gadgets.example.com=2160h,1Gi,100000 or events=off "
        "(repeatable)",
        factory=dict,
        metavar="RESOURCE=AGE,SIZE,NUMBER",
        parse=parse_log_of,
        combine=dict,
    )
    history_authors: bool = option(
        "--history-authors",
        "record with each change who made it: user, field manager, user agent, audit ID",
        value=True,
    )
    store: str = option(
        "--store",
        f"storage engine: {', or '.join(engine.help for engine in ENGINES.values())}",
        value=next(iter(ENGINES)),
        choices=tuple(ENGINES),
    )
    read_only: bool = option("--read-only", "reject writes with 403, and run no controller that writes", value=False)
    hooks: Sources = option(
        "--hooks",
        "Python file or module with hooks: functions that validate, change and convert objects (repeatable)",
        value=(),
        metavar="FILE",
        combine=tuple,
    )
    reload_hooks: bool = option("--reload", "load the files of --hooks again when they change", value=False)
    tokens: Mapping[str, User] = option("", "additional bearer tokens, each with its user", factory=dict)
    anonymous: bool = option(
        "--anonymous-auth", "accept requests without credentials, as the user system:anonymous", value=True
    )
    authorization: str = option(
        "--authorization-mode", "authorizer of requests; AlwaysAllow permits everything", value=MODES[0], choices=MODES
    )

    def __post_init__(self) -> None:
        if self.reload_hooks and not self.hooks:
            raise StartError("--reload requires --hooks")
        validate_engine(self.store, self)
        if self.authorization not in MODES:
            raise BadAccess(f"unknown authorization mode {self.authorization!r}: use one of {', '.join(MODES)}")
        if self.profile not in runtimeconfig.PROFILES:
            raise StartError(f"unknown profile {self.profile!r}: use one of {', '.join(runtimeconfig.PROFILES)}")
        features.choose_release(self.kubernetes_version, self.feature_gates)
        runtimeconfig.validate_runtime_config(self.runtime_config)
        runtimeconfig.validate_disabled(self.disable_builtin)
        runtimeconfig.validate_resources("history-for", self.history_for)
        try:
            standins.check_names(self.controllers)
        except ValueError as error:
            raise StartError(str(error)) from None
        for name, place in self.services.items():
            try:
                parse_service(f"{name}={place}")
            except ValueError:
                raise StartError(f"services: {name!r}: {place!r}: expected 'NAMESPACE/NAME': 'HOST:PORT'") from None

    @property
    def bounds(self) -> HistoryBounds:
        """The bounds of the history log.

        etcd keeps no history on its own, so `--history` sets the bounds there if no other option does.
        """
        own = {}
        for resource, keep in self.history_for.items():
            plural, _, group = resource.partition(".")
            own[ResourceKeys.of(group, plural, namespaced=True).prefix] = keep
        common = self.history_log
        if self.is_shared and common is None and self.history_authors:
            common = self.history
        return HistoryBounds(None, own, deletes=True) if common == OFF else HistoryBounds(common, own)

    @property
    def is_shared(self) -> bool:
        """Whether several servers can share the store."""
        return ENGINES[self.store].shared

    @property
    def needs_log(self) -> bool:
        """Whether options require a history log, so that a store without one is an error."""
        return self.history_log not in (None, OFF) or any(keep is not None for keep in self.history_for.values())

    @property
    def release(self) -> Release:
        """The served release with the feature gates."""
        return features.choose_release(self.kubernetes_version, self.feature_gates)
