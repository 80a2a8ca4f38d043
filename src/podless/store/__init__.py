"""The revisioned key-value store: one contract (contract.py) and its engines."""

from podless.store.contract import Change, Compacted, Conflicted, Damaged, Record, State, Store, StoreError, Write

__all__ = ["Change", "Compacted", "Conflicted", "Damaged", "Record", "State", "Store", "StoreError", "Write"]
