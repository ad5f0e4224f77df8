"""Count a corpus on many machines into a lake, by functions of files that `machines` runs as tasks."""
