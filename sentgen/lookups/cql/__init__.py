"""CQL, the query language of CWB, NoSketch Engine and BlackLab, compiled to SQL over `token`.

`grammar` reads a query into the tree of `syntax`; `automaton` makes of its regular parts one state for each
token pattern; `conditions` has what they say of tokens and regions, `spans` has the statement, and `search`
is what other look-ups use.
"""
