"""Look-ups: patterns of words, tags and trees, compiled to SQL; concordances, frequencies, collocations."""
