"""The core group: one module a kind, imported at first use."""
