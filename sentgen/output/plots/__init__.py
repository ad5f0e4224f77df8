"""Plots of tables, which matplotlib draws: rates, scores, and where hits are."""
