"""Commands that read the history of a running server: log, show, diff, blame and undo."""
