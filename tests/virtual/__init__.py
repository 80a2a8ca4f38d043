"""Facts about what kinds answer that store nothing."""
