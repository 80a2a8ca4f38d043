"""The log of changes, as users see it: who changed what, and when.

- store/contract.py (`ChangeLog`): the interface to the stored log. store/sqlite/ and store/etcd/ implement it
  (changelog.py), with the bounds and the packing of states in store/history.py.
- history/ (here): makes Change objects of the log's entries, with differences, for one user.
- http/history.py: the API history.podless.dev, and reads of objects as they were.
- cli/history/: the commands log, show, diff, blame and undo. testing/history.py: the changes of an object, in tests.
"""
