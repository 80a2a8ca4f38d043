"""Calls that the server makes itself: to the webhooks that definitions and configurations name."""

from podless.remote.client import DEADLINE, Client, RemoteError, TimedOut
from podless.remote.target import Target

__all__ = ["DEADLINE", "Client", "RemoteError", "Target", "TimedOut"]
