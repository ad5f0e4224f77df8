"""Models of a few related sentences: their own words, bigrams and dependencies."""
