"""The foundation of `sentgen.models`: the registry of models, the symbols of n-grams, and SQL files."""
