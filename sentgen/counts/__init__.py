"""From sentences to counts in the store."""
