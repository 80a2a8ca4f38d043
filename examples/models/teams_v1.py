"""example.com/v1: Team.

Made by podless model; changes will be lost.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from podless.models import ObjectMeta, Resource, kind, schema


@dataclass(kw_only=True)
class TeamSpec:
    __podless__ = schema(
        x_kubernetes_validations=[
            {
                "rule": "self.lead == 'nobody' || self.lead in self.members",
                "message": "the lead is a member",
            },
        ],
    )

    lead: str = "nobody"
    members: list[str] = field(metadata={"schema": {"maxItems": 100}})
    """Names of the members."""
    extra_: dict[str, Any] = field(default_factory=dict, repr=False)


@dataclass(kw_only=True)
class TeamStatus:
    count: int | None = None
    extra_: dict[str, Any] = field(default_factory=dict, repr=False)


@kind("example.com", "v1", plural="teams", status=True)
@dataclass(kw_only=True)
class Team(Resource):
    """A team of people."""

    __podless__ = schema(description="A team of people.")

    apiVersion: str = "example.com/v1"
    kind: str = "Team"
    metadata: ObjectMeta = field(default_factory=ObjectMeta)
    spec: TeamSpec
    status: TeamStatus | None = None
    extra_: dict[str, Any] = field(default_factory=dict, repr=False)
