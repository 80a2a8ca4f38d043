"""What kinds of the core group must obey: a kind a module, imported when it is first asked for."""
