"""The group apps: one module a kind, imported at first use."""
