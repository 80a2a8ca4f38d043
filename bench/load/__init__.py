"""The server that is measured, what is asked of it, and who asks."""
