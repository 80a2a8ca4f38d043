"""Rules that kinds of several groups share."""
