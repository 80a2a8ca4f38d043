"""The group flowcontrol.apiserver.k8s.io: one module a kind, imported at first use."""
