"""Keeps a server responsive: meters, slices, memos, bounded caches, pauses of the collector, the clock."""
