"""What the server publishes about itself: discovery, OpenAPI, tables."""
