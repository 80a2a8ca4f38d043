"""Kinds that are never stored: reviews, tokens, bindings and evictions."""
