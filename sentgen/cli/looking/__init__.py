"""Commands that look into a store: counts, concordances, trees, tables."""
