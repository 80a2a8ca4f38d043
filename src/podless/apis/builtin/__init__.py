"""The built-in kinds: tables and rules of their own, the same pipeline."""

from __future__ import annotations

from podless.apis.admissionregistration.admissionpolicies import ALL as POLICIES
from podless.apis.admissionregistration.webhookconfigurations import ALL as WEBHOOKS
from podless.apis.apiextensions.customresourcedefinitions import DEFINITIONS
from podless.apis.apiregistration.apiservices import API_SERVICES
from podless.apis.authorization.reviews import ALL as REVIEWS
from podless.apis.catalog import LATE
from podless.apis.coordination.leases import LEASES
from podless.apis.core.configmaps import CONFIG_MAPS
from podless.apis.core.events import EVENTS, NEW_EVENTS
from podless.apis.core.namespaces import NAMESPACES
from podless.apis.core.resourcequotas import QUOTAS
from podless.apis.core.secrets import SECRETS
from podless.apis.core.serviceaccounts import SERVICE_ACCOUNTS
from podless.apis.core.services import SERVICES
from podless.apis.extensions.thirdpartyresources import THIRD_PARTY_RESOURCES
from podless.apis.rbac.rbac import ALL as RBAC

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
