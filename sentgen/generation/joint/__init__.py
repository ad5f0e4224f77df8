"""Joint decoding: n-grams, tags and trees are one score, which a local search climbs."""
