"""Options of an apply: modes, orders and pruning, in kubectl's terms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from podless.plan.requests import ActingUser
from podless.runtime.dataclass import dataclass
from podless.runtime.option import ReportedError

SERVER_SIDE, CLIENT_SIDE, REPLACE, CREATE = MODES = ("server-side", "client-side", "replace", "create")
KUBECTL, HELM, FLUX, AS_GIVEN = ORDERS = ("kubectl", "helm", "flux", "as-given")
# The field managers that kubectl uses. Source: k8s.io/kubectl pkg/cmd/{apply,create,replace}
MANAGERS: Mapping[str, str] = {
    SERVER_SIDE: "kubectl",
    CLIENT_SIDE: "kubectl-client-side-apply",
    REPLACE: "kubectl-replace",
    CREATE: "kubectl-create",
}


class CannotPlan(ReportedError):
    """No plan is possible. The text says why, in one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOptions:
    """How a set is applied.

    mode: one of MODES. order: one of ORDERS. manager: the field manager, "" for kubectl's own in this mode. force: take
    over fields of other managers in server-side apply. namespace: of all objects, as `kubectl -n`; "": objects without
    a namespace get that of the kubeconfig's context, or default. prune: a label selector of objects to delete if the
    set no longer has them, "" for none. applyset: the parent of the ApplySet to prune by, as [RESOURCE[.GROUP]/]NAME,
    "" for none. call_webhooks: call admission and conversion webhooks, with dryRun. services: addresses of webhooks
    behind a Service, as NAMESPACE/NAME[:PORT] -> HOST:PORT. user, groups, uid: the user who applies the set, "" for an
    administrator. kubernetes_version: "" for the release of the API that the plan starts from, or the newest. Raises
    CannotPlan for options that exclude each other.
    """

    mode: str = SERVER_SIDE
    order: str = KUBECTL
    manager: str = ""
    force: bool = False
    namespace: str = ""
    prune: str = ""
    applyset: str = ""
    user: str = ""
    groups: Sequence[str] = ()
    uid: str = ""
    call_webhooks: bool = False
    services: Mapping[str, str] = field(default_factory=dict)
    kubernetes_version: str = ""

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise CannotPlan(f"unknown mode {self.mode!r}: use one of {', '.join(MODES)}")
        if self.order not in ORDERS:
            raise CannotPlan(f"unknown order {self.order!r}: use one of {', '.join(ORDERS)}")
        if self.force and self.mode != SERVER_SIDE:
            raise CannotPlan("--force-conflicts belongs to --mode server-side")
        if (self.prune or self.applyset) and self.mode in (REPLACE, CREATE):
            raise CannotPlan(f"kubectl {self.mode} does not prune; use --mode server-side or client-side")
        if (self.groups or self.uid) and not self.user:
            raise CannotPlan("requesting uid, groups or user-extra without impersonating a user: add --as")
        if self.prune and self.applyset:
            raise CannotPlan("--prune and --applyset exclude each other")
        if self.prune and self.mode == SERVER_SIDE:
            raise CannotPlan("kubectl prunes by label only with --mode client-side; --applyset prunes in both modes")

    @property
    def acting(self) -> ActingUser | None:
        """The user who applies the set, None for an administrator."""
        return ActingUser(self.user, tuple(self.groups), self.uid) if self.user else None

    @property
    def field_manager(self) -> str:
        """The field manager of the writes."""
        return self.manager or MANAGERS[self.mode]
