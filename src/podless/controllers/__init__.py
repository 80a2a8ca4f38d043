"""What runs beside requests: definitions come into force and go, namespaces empty."""
