"""Aligners against links that people drew."""
