"""The audit log: who asked for what and what came of it, one JSON line for each stage that the policy wants told."""

from podless.http.audit.auditor import Auditor
from podless.http.audit.journal import Journal
from podless.http.audit.policy import METADATA, BadPolicy, Policy, read
from podless.http.audit.settings import Audit

__all__ = ["METADATA", "Audit", "Auditor", "BadPolicy", "Journal", "Policy", "read"]
