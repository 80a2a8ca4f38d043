"""JSON, YAML and the texts of Go's numbers, times and strings."""
