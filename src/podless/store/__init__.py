"""The revisioned key-value store: its contract (contract.py) and its engines."""

from podless.store.contract import FOLLOWING as FOLLOWING
from podless.store.contract import KEPT as KEPT
from podless.store.contract import DiskFull as DiskFull
from podless.store.contract import HistoryCompacted as HistoryCompacted
from podless.store.contract import Operation as Operation
from podless.store.contract import Record as Record
from podless.store.contract import RevisionConflict as RevisionConflict
from podless.store.contract import Store as Store
from podless.store.contract import StoreChange as StoreChange
from podless.store.contract import StoreDamaged as StoreDamaged
from podless.store.contract import StoreError as StoreError
from podless.store.contract import StoreFull as StoreFull
from podless.store.contract import StoreInUse as StoreInUse
from podless.store.contract import StoreTimeout as StoreTimeout
from podless.store.contract import StoreUnreachable as StoreUnreachable
from podless.store.contract import ValueTooLarge as ValueTooLarge
from podless.store.keys import ResourceKeys as ResourceKeys
from podless.store.keys import StoredValue as StoredValue
