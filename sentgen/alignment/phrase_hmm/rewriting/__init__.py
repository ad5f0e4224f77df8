"""The probabilities of rewriting: words as integers, the mixture of components, and how EM learns it."""
