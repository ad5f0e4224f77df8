"""Search in arrays: patterns over the tokens of a store, read block by block, give hits.

`conditions` says which tokens of a block (`sentgen.lookups.base.tokens`) meet what is asked of one; `regions`
finds what is said of regions, `search` the rest; `hits` come out. The statement that a question shows
(`sentgen.lookups.cql.spans`) defines the same.
"""
