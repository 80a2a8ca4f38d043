"""Benchmarks: numbers to look at, never asserted."""
