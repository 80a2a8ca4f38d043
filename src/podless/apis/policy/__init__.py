"""The group policy: one module a kind, imported at first use."""
