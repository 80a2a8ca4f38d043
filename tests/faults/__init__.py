"""Facts about what happens when the world around the server fails."""
