"""Build a model over the counts of a lake on many machines, with the stages and files of counting."""
