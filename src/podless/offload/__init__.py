"""Work off the event loop: a thread, and a process for what keeps the interpreter."""
