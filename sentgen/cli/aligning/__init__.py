"""Commands that say where the words of a text come from."""
