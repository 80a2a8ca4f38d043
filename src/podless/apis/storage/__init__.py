"""The group storage.k8s.io: one module a kind, imported at first use."""
