"""Calls to other servers: webhooks, and other Kubernetes API servers."""

from podless.remote.client import DEADLINE, CallTimeout, RemoteError, WebhookClient, WebhookTarget

__all__ = ["DEADLINE", "CallTimeout", "RemoteError", "WebhookClient", "WebhookTarget"]
