"""Relations of English words: stems, spellings, synonyms; and the states of the words of an abstract."""
