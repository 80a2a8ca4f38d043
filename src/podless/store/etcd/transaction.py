"""Transactions as bytes, and chains of commits for engines that make each commit durable by itself.

A message is the concatenation of its fields, which takes a quarter of the time that message classes take. The numbers
are those of TxnRequest in rpc.proto.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from podless.store.contract import FOLLOWING, Operation, StoreError
from podless.structs.wire import encode_field, encode_varint


def compare_revision(key: bytes, revision: int, *, lower: bool = False) -> bytes:
    """Return the condition that a key's last revision is this one (0: absent). lower: that it is lower."""
    result = b"\x08\x02\x10\x02" if lower else b"\x10\x02"
    return encode_field(b"\x0a", result + encode_field(b"\x1a", key) + b"\x30" + encode_varint(revision))


def put_key(key: bytes, value: bytes, lease: int = 0) -> bytes:
    """Return the request to write a key."""
    content = encode_field(b"\x0a", key) + encode_field(b"\x12", value)
    return encode_field(b"\x12", encode_field(b"\x12", content + b"\x18" + encode_varint(lease) if lease else content))


def delete_key(key: bytes) -> bytes:
    """Return the request to delete a key."""
    return encode_field(b"\x12", encode_field(b"\x1a", encode_field(b"\x0a", key)))


def read_otherwise(key: bytes) -> bytes:
    """Return the request to read a key if a condition fails."""
    return encode_field(b"\x1a", encode_field(b"\x0a", encode_field(b"\x0a", key)))


async def commit_chain(
    commit: Callable[[Sequence[Operation]], Awaitable[int]], commits: Sequence[Sequence[Operation]]
) -> list[int]:
    """Commit a chain, as `Store.commit_chain` does.

    Other clients may write in between; then the next commit fails and ends the chain.
    """
    revisions = [await commit(commits[0])]
    for operations in commits[1:]:
        last = revisions[-1]
        following = [
            operation._replace(expect=last) if operation.expect == FOLLOWING else operation for operation in operations
        ]
        try:
            revisions.append(await commit(following))
        except StoreError:
            break
    return revisions
