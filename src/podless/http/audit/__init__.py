"""The audit log: who asked for what and what came of it, one JSON line for each stage that the policy wants told."""
