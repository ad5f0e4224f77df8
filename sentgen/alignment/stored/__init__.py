"""Pairs, models and alignments in the store: training by EM over a stream of pairs, and application."""
