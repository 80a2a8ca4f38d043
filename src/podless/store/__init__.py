"""The revisioned key-value store: its contract (contract.py) and its engines."""

from podless.store.contract import (
    FOLLOWING,
    KEPT,
    DiskFull,
    HistoryCompacted,
    Operation,
    Record,
    RevisionConflict,
    Store,
    StoreChange,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreInUse,
    StoreTimeout,
    StoreUnreachable,
    ValueTooLarge,
)
from podless.store.keys import ResourceKeys, StoredValue

__all__ = [
    "FOLLOWING",
    "KEPT",
    "DiskFull",
    "HistoryCompacted",
    "Operation",
    "Record",
    "ResourceKeys",
    "RevisionConflict",
    "Store",
    "StoreChange",
    "StoreDamaged",
    "StoreError",
    "StoreFull",
    "StoreInUse",
    "StoreTimeout",
    "StoreUnreachable",
    "StoredValue",
    "ValueTooLarge",
]
