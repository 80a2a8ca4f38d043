"""The wire: connections, paths, negotiation, and what answers look like."""
