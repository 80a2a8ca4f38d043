"""The log of changes: who changed what, and when."""
