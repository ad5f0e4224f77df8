"""CQL, the query language of CWB, NoSketch Engine and BlackLab, compiled to SQL over `token`.

`grammar` reads a query into the tree of `syntax`; `automaton` makes of its regular parts one state for each
token pattern; `tokens` has the conditions on one token, `spans` the statement, and `plan` decides from a
sample of the store what is looked up first. `search` is what other look-ups use.
"""
