"""Export of objects from any Kubernetes API server to files, and import from files."""
