"""Pairs, models and alignments in the store: EM over a stream of pairs, and models that are applied."""
