"""What becomes of each word of a summary: the same, a variant, related, changed, or new."""
