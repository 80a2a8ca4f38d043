"""What the create of a kind that stores nothing answers: reviews, tokens, bindings and evictions."""
