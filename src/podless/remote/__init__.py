"""Calls that the server makes itself: to the webhooks that definitions and configurations name."""

from podless.remote.client import Client, RemoteError, TimedOut
from podless.remote.target import Target

__all__ = ["Client", "RemoteError", "Target", "TimedOut"]
