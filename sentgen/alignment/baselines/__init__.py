"""Baselines of the phrase-based HMM: word models, longest common runs, Cut & Paste, external programs."""
