"""Fusion of sentences against references, beside extraction and the search of 2005; sheets for people."""
