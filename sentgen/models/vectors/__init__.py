"""Vectors of words from their company: counts, PPMI, truncated SVD, and what is near."""
