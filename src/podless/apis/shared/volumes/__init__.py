"""Validates persistent volumes and claims."""
