"""The group batch: one module a kind, imported at first use."""
