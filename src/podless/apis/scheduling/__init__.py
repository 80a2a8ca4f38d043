"""What kinds of scheduling must obey: a kind a module, imported when it is first asked for."""
