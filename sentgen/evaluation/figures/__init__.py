"""Figures with intervals and tests, runs that are recorded in the store, and their reports."""
