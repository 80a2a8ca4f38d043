"""Calls to other servers: webhooks, and other Kubernetes API servers."""

from podless.remote.client import DEADLINE, RemoteError, Target, TimedOut, WebhookClient

__all__ = ["DEADLINE", "RemoteError", "Target", "TimedOut", "WebhookClient"]
