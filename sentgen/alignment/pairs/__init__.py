"""Pairs of an abstract and a document, their alignments, and the memory for computing these."""
