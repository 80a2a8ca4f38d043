"""The revisioned key-value store: its contract (contract.py) and its engines."""

from podless.store.contract import (
    FOLLOWING,
    KEPT,
    Change,
    Compacted,
    Conflicted,
    Damaged,
    Full,
    InUse,
    NoRoom,
    Operation,
    Overdue,
    Oversized,
    Record,
    Store,
    StoreError,
    Unreachable,
)
from podless.store.keys import Keys, Stored

__all__ = [
    "FOLLOWING",
    "KEPT",
    "Change",
    "Compacted",
    "Conflicted",
    "Damaged",
    "Full",
    "InUse",
    "Keys",
    "NoRoom",
    "Operation",
    "Overdue",
    "Oversized",
    "Record",
    "Store",
    "StoreError",
    "Stored",
    "Unreachable",
]
