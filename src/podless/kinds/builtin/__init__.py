"""The built-in kinds: tables and rules of their own, the same pipeline."""

from __future__ import annotations

from podless.kinds.builtin.accounts import SERVICE_ACCOUNTS
from podless.kinds.builtin.apiservices import API_SERVICES
from podless.kinds.builtin.catalog import LATE
from podless.kinds.builtin.configmaps import CONFIG_MAPS
from podless.kinds.builtin.definitions import DEFINITIONS
from podless.kinds.builtin.events import EVENTS, NEW_EVENTS
from podless.kinds.builtin.leases import LEASES
from podless.kinds.builtin.namespaces import NAMESPACES
from podless.kinds.builtin.policies import ALL as POLICIES
from podless.kinds.builtin.quotas import QUOTAS
from podless.kinds.builtin.rbac import ALL as RBAC
from podless.kinds.builtin.reviews import ALL as REVIEWS
from podless.kinds.builtin.secrets import SECRETS
from podless.kinds.builtin.services import SERVICES
from podless.kinds.builtin.thirdparty import THIRD_PARTY_RESOURCES
from podless.kinds.builtin.webhooks import ALL as WEBHOOKS

# the kinds that admission goes by
ADMISSION = (*POLICIES, *WEBHOOKS)

# in the order that discovery lists the kinds of a group
ALL = tuple(
    sorted(
        (
            *ADMISSION,
            API_SERVICES,
            CONFIG_MAPS,
            DEFINITIONS,
            EVENTS,
            *LATE,
            LEASES,
            NAMESPACES,
            NEW_EVENTS,
            QUOTAS,
            *RBAC,
            *REVIEWS,
            SECRETS,
            SERVICES,
            SERVICE_ACCOUNTS,
            THIRD_PARTY_RESOURCES,
        ),
        key=lambda kind: (kind.plural, kind.group),
    )
)

__all__ = [
    "ADMISSION",
    "ALL",
    "API_SERVICES",
    "CONFIG_MAPS",
    "DEFINITIONS",
    "EVENTS",
    "LATE",
    "LEASES",
    "NAMESPACES",
    "NEW_EVENTS",
    "QUOTAS",
    "SECRETS",
    "SERVICES",
    "SERVICE_ACCOUNTS",
    "THIRD_PARTY_RESOURCES",
]
