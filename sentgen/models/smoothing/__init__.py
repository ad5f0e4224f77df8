"""Smoothing: from counts of n-grams to probabilities and back-off weights, over sorted rows."""
