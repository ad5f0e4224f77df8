"""Reading n-grams of a model from the store, and tables of n-grams that a search looks up."""
