"""Statistics of words and hits: frequencies, dispersion, keyness, collocations."""
