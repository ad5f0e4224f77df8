"""What all look-ups share: statements, the names in queries, and the tokens of a store as arrays."""
