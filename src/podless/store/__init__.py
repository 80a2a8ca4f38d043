"""The revisioned key-value store: its contract (contract.py) and its engines."""

from podless.store.contract import (
    FOLLOWING,
    KEPT,
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
    StoreChange,
    StoreError,
    Unreachable,
)
from podless.store.keys import Keys, Stored

__all__ = [
    "FOLLOWING",
    "KEPT",
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
    "StoreChange",
    "StoreError",
    "Stored",
    "Unreachable",
]
