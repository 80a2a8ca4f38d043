"""Three servers over three etcd members, while members and servers fail: clients see one object, not three."""

from __future__ import annotations

from tests.faults.fleet import Traffic, fleet, torment
from tests.faults.linearizable import wrong


def test_clients_see_one_state_whatever_fails() -> None:
    with fleet() as over, Traffic(over.servers, seed=1, keys=5) as traffic:
        torment(over, traffic, rounds=1, each=40, seed=1)
    assert wrong(traffic.history) == []
    assert [value for value, revisions in traffic.revisions.items() if len(revisions) > 1] == []
