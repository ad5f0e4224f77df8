"""Conditions on metadata, ``genre = academic and year >= 2010``, and subcorpora: those that have a name."""
