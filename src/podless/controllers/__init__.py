"""Controllers, which run beside requests: definitions, namespaces, garbage collection, quotas and others."""
