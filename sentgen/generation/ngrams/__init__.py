"""Orders of a bag's units found left to right, with an n-gram model."""
