"""What can be done to objects, one verb a file; the write path is a visible list of steps."""
