"""What English words have to do with each other: stems, spellings, synonyms, and function words."""
