"""Tune the phrase-based HMM on links that people drew: as a log-linear model, by conditional training."""
