"""Programs with the client libraries of Python."""
