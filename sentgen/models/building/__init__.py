"""Building a model: count the n-grams of the selected sentences, smooth them, and write the rows."""
