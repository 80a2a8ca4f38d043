"""Figures, the book of results, and how they are shown."""
