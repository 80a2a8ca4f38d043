"""Persistent volumes, and claims of them."""
