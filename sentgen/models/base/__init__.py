"""What all of the room builds on: models by their names, what n-grams are made of, SQL, and a cache."""
