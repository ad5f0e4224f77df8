"""Concordances: where hits are, their lines, and the text around them."""
