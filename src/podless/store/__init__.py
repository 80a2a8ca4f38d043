"""The revisioned key-value store: one contract (contract.py) and its engines."""

from podless.store.contract import (
    Change,
    Compacted,
    Conflicted,
    Damaged,
    Full,
    Operation,
    Oversized,
    Record,
    Store,
    StoreError,
)
from podless.store.keys import Keys, Stored

__all__ = [
    "Change",
    "Compacted",
    "Conflicted",
    "Damaged",
    "Full",
    "Keys",
    "Operation",
    "Oversized",
    "Record",
    "Store",
    "StoreError",
    "Stored",
]
