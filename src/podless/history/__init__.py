"""Who changed what, and when: the log beside the revisions."""
