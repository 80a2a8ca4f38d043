"""Calls that the server makes itself: to the webhooks that definitions and configurations name."""

from podless.remote.client import DEADLINE, RemoteError, TimedOut, WebhookClient
from podless.remote.target import Target

__all__ = ["DEADLINE", "RemoteError", "Target", "TimedOut", "WebhookClient"]
