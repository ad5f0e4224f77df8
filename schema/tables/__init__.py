"""Declarations of all tables, a file for each kind of data."""
