"""Who are you, and may you."""
