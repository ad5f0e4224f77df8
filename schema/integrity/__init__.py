"""Checks of what is stored: what each table promises, and sums that must agree."""
