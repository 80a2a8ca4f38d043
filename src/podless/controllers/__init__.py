"""Controllers beside requests: definitions come into force and go, namespaces empty, garbage is collected."""
