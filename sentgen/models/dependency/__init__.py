"""The dependency side of a model: the trees of corpora, and what is counted in them."""
