"""May somebody do something: the seam between those who ask and those who decide."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from podless.auth.attributes import Attributes
from podless.auth.user import User


class Decision(NamedTuple):
    """Yes or no. reason: why, where there is something to tell; error: what went wrong in finding out."""

    allowed: bool
    reason: str = ""
    error: str = ""


class Authorizer(Protocol):
    """Decides from what is in force now."""

    def allowed(self, user: User, asked: Attributes) -> bool:
        """Whether the user may do it."""

    def decide(self, user: User, asked: Attributes) -> Decision:
        """The same with the reason."""


class AllowAll:
    """Everybody may do everything."""

    def allowed(self, user: User, asked: Attributes) -> bool:
        """Yes."""
        return True

    def decide(self, user: User, asked: Attributes) -> Decision:
        """Yes."""
        return Decision(True)
