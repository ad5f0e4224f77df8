"""N-grams of a model on their way out of the store, and as arrays that a search asks."""
