"""Figures with intervals and tests, and runs that are recorded in the store."""
