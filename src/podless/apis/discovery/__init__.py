"""The group discovery.k8s.io: one module a kind, imported at first use."""
