"""The audit log: one JSON line for each request and stage that the policy selects."""
