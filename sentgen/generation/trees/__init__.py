"""Orders of a bag's units found by way of a dependency tree."""
