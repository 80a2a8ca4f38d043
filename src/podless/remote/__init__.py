"""Calls to other servers: webhooks, and other Kubernetes API servers."""

from podless.remote.client import DEADLINE, RemoteError, TimedOut, WebhookClient
from podless.remote.target import Target

__all__ = ["DEADLINE", "RemoteError", "Target", "TimedOut", "WebhookClient"]
