"""Documents about the served API: discovery, OpenAPI, tables."""
