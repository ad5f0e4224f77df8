"""The model as a log-linear one: what it sees of a pair, and the weights that gold links gave it."""
