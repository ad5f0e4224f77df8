"""Count a corpus on many machines into a lake: plain functions over files, which `machines` runs."""
