"""Concordances: the positions of hits, their lines, and the text around them."""
