"""Dependency models: counts of the trees of corpora, and the probabilities estimated from them."""
