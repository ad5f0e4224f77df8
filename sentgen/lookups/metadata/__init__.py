"""Conditions on the metadata of sentences and documents: ``genre = academic and year >= 2010``.

`grammar` reads an expression into the types of `syntax`; `conditions` writes it into statements, and has those
with a name, subcorpora.
"""
