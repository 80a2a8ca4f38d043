"""Work off the event loop: on a thread, and in a process for calls that hold the GIL."""
