"""Search in arrays: patterns over the tokens of a store, read block by block, give hits.

`tokens` reads columns of tokens and keeps some; `conditions` says which tokens of a block meet what is asked
of one; `sequences` and `walks` find regular patterns, `regions` what is said of regions, `matching` the rest;
`hits` are what comes out. The statement that a question shows (`sentgen.lookups.cql.spans`) defines the same.
"""
