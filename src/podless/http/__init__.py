"""HTTP: connections, filters, paths, negotiation, and the rendering of answers."""
