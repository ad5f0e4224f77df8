"""Search in arrays: find the hits of patterns over tokens, which are read block by block.

`conditions` computes which tokens of a block (`sentgen.lookups.base.tokens`) meet a condition, `regions` the
regions that a pattern names, and `search` the matches of whole patterns, as `hits`. The statement that a
question shows (`sentgen.lookups.cql.spans`) defines the same hits.
"""
