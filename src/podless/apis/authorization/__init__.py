"""The group authorization.k8s.io."""
