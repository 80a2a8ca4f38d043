"""The current state and the recent changes of each resource, in memory, and their fan-out to watchers."""
