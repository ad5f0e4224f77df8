"""Evaluation of aligners by gold links, which people annotated."""
