"""CQL, the query language of CWB, NoSketch Engine and BlackLab, compiled to SQL over `token`.

`grammar` reads a query into the tree of `syntax`; `automaton` makes of its regular parts one state for each
token pattern; `tokens` has the conditions on one token, `regions` those on regions, and `spans` the statement.
`search` is what other look-ups use.
"""
