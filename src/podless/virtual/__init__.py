"""Kinds and subresources that are never stored: reviews, tokens, bindings, evictions, scales and connections."""
