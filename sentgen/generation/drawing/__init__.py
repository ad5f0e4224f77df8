"""Dependency trees as CoNLL-U, as SVG, and as text."""
