"""The group autoscaling: one module a kind, imported at first use."""
