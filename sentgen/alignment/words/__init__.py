"""What English words have to do with each other: stems, spellings, synonyms; and what became of each word."""
